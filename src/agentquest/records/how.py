"""How a step's action was read from the agent's answer, as records store it."""


class How:
    """The values of `Step.how`. A reply that is not an answer has its kind: see `ReplyKind`."""

    # The agent named its action directly.
    VERBATIM = "verbatim"
    SLIP = "slip"  # a scripted player's deliberate mistake
    TYPED = "typed"
    BROWSER = "browser"  # clicked by a person on the site of a benchmark
    INHERITED = "inherited"  # of an agent's game that a person continued
    AFTER_HINT = "after_hint"  # typed by a person who had asked for a hint
    GAVE_UP = "gave_up"

    # `THINK: … ACTION: …`, from the format that was asked for to looser ones.
    EXACT = "exact"
    UNDECORATED = "undecorated"
    REPEATED_LABEL = "repeated_label"
    END_MARK = "end_mark"
    LOOSE_LABEL = "loose_label"
    NEXT_LINE = "next_line"
    INLINE = "inline"
    TAG = "tag"
    JSON = "json"
    BARE = "bare"
    CUT = "cut"
    AFTER_ECHO = "after_echo"
    FIRST_OF_SEVERAL = "first_of_several"

    # Free replies of agents called over A2A, read against the available actions.
    NORMALIZED = "normalized"
    NUMBER = "number"
    CONTAINED = "contained"
    FIRST_ACTION = "first_action"  # played for an unreadable reply, where that is asked for

    # Other formats of replies.
    LINE = "line"
    FIRST_LINE = "first_line"
    TAIL = "tail"
    TOOL_CALL = "tool_call"
    FIRST_CALL = "first_call"
    FURTHER_CALL = "further_call"

    # As the authors of a published setting read.
    AS_PUBLISHED = "as_published"
    REWRITTEN = "rewritten"  # their function changes the words of the command
    THOUGHT = "thought"  # a turn of thinking, where that costs one

    # No action was found.
    MISSING = "missing"
    FORMAT_ECHO = "format_echo"
    TOO_LONG = "too_long"
    NOT_JSON = "not_json"
    NO_ACTION = "no_action"
    NO_TEXT = "no_text"
    INVALID = "invalid"
    NO_TOOL_CALL = "no_tool_call"
    MALFORMED_CALL = "malformed_call"
