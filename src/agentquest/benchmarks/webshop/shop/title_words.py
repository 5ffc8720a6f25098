"""Words that product titles are full of, by what they usually are.

General English, put together by hand; what matters is that a word is in the right
list, not that lists are complete.
"""

_FUNCTION = """
    a about above across after again against all along also am an and another any are around as
    at away back be because been before behind being below beneath beside between beyond both
    but by can could did do does down during each eight either else even ever every few five for
    four from had has have having he her here him his how i if in inside into is it its just less
    let like may me might mine more most much must my near neither nine no non nor not now of off
    on once one only onto or other our out outside over own per plus same seven shall she should
    since six so some still such ten than that the their them then there these they this those
    three through to together too toward two under until up upon us very via was we were what when
    where which while who whose why will with within without would yet you your"""
_ADJECTIVES = """
    active adjustable advanced antique artificial authentic automatic available baby beautiful best
    big black blue brand breathable bright broad brown casual cheap classic clean clear cold
    colorful comfortable compact compatible complete cool creative crystal cute cozy dark deep
    delicious designed detachable different digital disposable double dry dual durable easy elastic
    electric elegant empty entire extra fashionable fast fat female fine fit flat flexible floral
    foldable folding formal free fresh full funny furry genuine gluten gold golden good gorgeous
    graphic gray great green grey gross handmade happy hard healthy heavy high holographic hot huge
    hydrating ideal imported indoor industrial innovative intelligent international keto kosher
    large lasting latest leakproof light lightweight little long loose lovely low luxurious luxury
    magnetic male manual matte medium metallic mini minimalist mixed modern moisturizing multi
    multifunctional multiple musical narrow natural neutral new nice noble nontoxic novel nude
    official old open optical orange organic original outdoor oval perfect personal pink plain
    plastic plump pointed popular portable powerful practical premium printed pro professional pure
    purple quick quiet rapid raw ready real rechargeable rectangular red refillable regular
    relaxed removable replaceable retro reusable reversible rich right rigid romantic round royal
    rustic safe salty seamless seasonal sensitive sexy sharp shiny short silent silky silver simple
    single skinny sleeveless slim slippery small smart smooth soft solid special spicy square
    stable stainless standard steady straight strapless strong stylish sugar suitable super sweet
    synthetic tactical tall temporary thermal thick thin tight tiny top traditional transparent
    trendy true turquoise twin ultra unfinished unique universal unisex unscented upholstered
    upgraded useful vegan vertical vintage violet virgin vital vivid warm washable waterproof wet
    white whole wide wild wired wireless wonderful wooden yellow young"""
_VERBS = """
    add adds allow allows apply assemble assembled avoid bring brings build built buy carry change
    charge charging choose clean cleaning come comes compare control cooking cooling cover covers
    cut cutting decorate designed drink drinking eat enhance enhances enjoy feel fit fits
    fitted fold folded gaming get gets give gives go grow handcrafted hanging help helps hiking hold
    holding hydrate improve improves inspired include included includes increase keep keeps knit
    knitted made make makes making moisturize mounted mounting need nourish nourishes
    outdoors painted packed play please plated prevent prevents protect protects provide provides
    put reading reduce reduces refill relieve relieves remove removes repair replace replaces
    running save see set sets setting shaped shaving shopping sit sleep sleeping smell soothe
    soothes stand standing stay stop storing support supports swimming take tailored touch traveling
    travelling try turn upgrade use used uses using walking wash washing wear wearing whitening
    work working works worn woven"""
_UNITS = "cm ft gb g hz in inch inches k kg lb lbs m mah mb ml mm oz pc pcs tb v w"
FUNCTION, ADJECTIVES, VERBS, UNITS = (
    frozenset(words.split()) for words in (_FUNCTION, _ADJECTIVES, _VERBS, _UNITS)
)
