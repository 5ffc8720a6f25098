"""What each trait of a title's word says about its being a noun; see `title_tagger`.

A line holds a weight and the traits that have it. `title/adjective` is a capitalised
word of the list of adjectives, `<` and `>` say what stands before and after it, and
`-able title` is a capitalised word with that ending.
"""

_TABLE = """
    +1.8 | title/other
    +1.4 | -ion title | title/verb < title/adjective | title/verb > break
    +1.3 | -less title
    +1.2 | lower/other < number | mark/mark > title/verb | mixed/other | title/other < number
    +1.2 | title/unit < number | upper/other
    +1.1 | - mixed | title/function < break
    +1.0 | -ent title | -or title | code/other | letter/other < title | letter/unit
    +1.0 | title/adjective < code/unit
    +0.9 | -proof title | lower/other | lower/other < edge | lower/other < lower
    +0.9 | title/adjective > mark | title/other < mark | title/other > edge | title/verb > edge
    +0.8 | -er title | -y title | code/other < title | title/other > mark | title/unit < title
    +0.8 | upper/function > title
    +0.7 | - upper | -al title | -s lower | code/other < upper | code/other > title
    +0.7 | lower/unit < number | title/function > break | unit/unit > upper | upper/unit
    +0.6 | -ary title | -ish title | -s upper | code/other > upper | lower/other > lower/function
    +0.6 | title/adjective | title/other < lower | title/other > lower | title/other > title/verb
    +0.6 | title/unit > edge | upper/other > edge | upper/unit < number
    +0.5 | -ies title | -ness title | code/other > code | letter/function < break
    +0.5 | letter/unit < title | mark/mark < number | title/adjective < unit/unit
    +0.5 | title/adjective < upper | title/other > code | title/other > title | unit/unit > title
    +0.5 | upper/adjective | upper/other < unit/unit | upper/other > number | upper/other > title
    +0.4 | - letter | - title | -ive title | letter/other < break | lower/unit
    +0.4 | lower/unit > title | mixed/other < lower/function | mixed/other > number
    +0.4 | mixed/other > title | title/adjective < mark | title/function > number
    +0.4 | title/other < lower/function | title/other < lower/unit | title/other < mixed
    +0.4 | title/other > break | title/other > lower/function | title/verb | title/verb > title
    +0.4 | upper/other > code | upper/other > lower/function
    +0.3 | -s title | code/other > title/adjective | letter/unit < break | lower/other > lower
    +0.3 | title/adjective > edge | title/adjective > title | title/other < letter
    +0.3 | title/other < upper/unit | title/verb < edge | title/verb < upper | title/verb > number
    +0.3 | upper/other < edge | upper/other < upper/function | upper/other > mark
    +0.3 | upper/other > upper | upper/unit > title
    +0.2 | -est title | -ic title | lower/other > edge | lower/other > title | lower/unit > break
    +0.2 | mark/mark < title | mixed/other < break | title/adjective < code
    +0.2 | title/adjective < title | title/adjective < title/adjective
    +0.2 | title/function < lower/function | title/other < title | title/other < title/unit
    +0.2 | title/other > number | title/unit | title/verb < number | upper/other < lower/function
    +0.2 | upper/other > title/adjective
    -0.2 | - unit | -es title | -ity title | code/other > break | code/other > edge
    -0.2 | code/unit > break | code/unit > title/adjective | code/unit > upper
    -0.2 | letter/other > letter | lower/function > mixed | lower/function > title/verb
    -0.2 | lower/other > break | lower/other > number | mark/mark < title/adjective
    -0.2 | title/adjective > upper | title/function < edge | title/other < title/function
    -0.2 | title/other < title/verb | title/other > letter/unit | title/other > upper
    -0.2 | title/unit > break | unit/unit | unit/unit < number | unit/unit > number
    -0.2 | upper/other < code | upper/other > title/verb
    -0.3 | -ers title | code/other < edge | lower/adjective | lower/adjective > break
    -0.3 | lower/function > upper | lower/other < title | title/adjective > lower/function
    -0.3 | title/function < title | title/function < title/adjective | title/other < code/unit
    -0.3 | title/other < upper | unit/unit > edge | upper/other < break
    -0.3 | upper/other > upper/function | upper/unit > break
    -0.4 | -ant title | -er upper | -es lower | code/other < number | code/other > number
    -0.4 | code/unit > number | lower/function < break | lower/function > title/adjective
    -0.4 | mark/mark > title | title/adjective > title/adjective
    -0.4 | title/adjective > title/function | title/other < upper/function | title/other > letter
    -0.5 | - lower | code/unit > title | letter/function | letter/other < number
    -0.5 | lower/function < title/adjective | lower/function < title/verb | lower/verb
    -0.5 | mark/mark > number | title/adjective < title/function | title/adjective > title/verb
    -0.5 | title/function < title/function | title/function < title/verb
    -0.5 | title/function > title/function | title/other > mixed | title/verb < lower/function
    -0.5 | unit/unit > title/adjective | upper/other < title | upper/other > lower
    -0.6 | - mark | -y upper | lower/function > number | lower/other < lower/function
    -0.6 | lower/other < upper | mark/mark | title/other < code | title/other > title/function
    -0.6 | title/verb > title/adjective | upper/function
    -0.7 | - code | -ical title | mark/mark < upper | title/other < edge
    -0.7 | title/verb > lower/function | upper/other > break
    -0.8 | lower/adjective < break | lower/other < break | lower/unit > edge
    -0.8 | title/adjective < number | title/function > title | unit/unit > break
    -0.8 | upper/function > upper
    -0.9 | title/adjective > number | title/other < break
    -1.0 | title/verb > title/function
    -1.1 | -able title | -ous title | letter/other < letter | title/adjective < title/verb
    -1.2 | -ing title | letter/other > number | lower/function > title | title/adjective < edge
    -1.2 | upper/function < upper
    -1.3 | title/function > title/adjective
    -1.4 | lower/function < title
    -1.5 | -ible title | -ly title
    -1.7 | -ed title
    -1.8 | code/unit | code/unit < number | title/unit < break
    -2.0 | title/function
    -3.4 | lower/function
"""
BASE = 0.5


def _read() -> dict[str, float]:
    weights: dict[str, float] = {}
    for line in _TABLE.strip().splitlines():
        weight, *traits = line.strip().split(" | ")
        weights |= dict.fromkeys(traits, float(weight))
    return weights


WEIGHTS = _read()
