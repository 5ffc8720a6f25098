"""A generated shop for users without the official data, the same on every machine.

About a thousand products in the five categories, written in the shape of the
official files, so that the same loader reads them. Every product is generated from
its number alone. The vocabulary is at the end of this file.
"""

import json
import random
import string
from typing import Any, NamedTuple

PRODUCTS_PER_KIND = 25
_ASIN_CHARACTERS = string.digits + string.ascii_uppercase
_HUMAN_SHARE, _INSTRUCTED_SHARE = 0.85, 0.6
# The SHA-256 of each file, so that its name is known without making it. A test compares.
DIGESTS = (
    "edf14aef632d8be427b04b968cbb042e8bb397028f505dfa7d85a4aa71a51476",
    "347dcaefc46435cf2dcf76c6691813fbc38e1b9d0d51e41d25b2adfd961ef93b",
    "b988b96d2a5e400f3e4273610496cd5f2002d54b91ff7c61c17f53ffd9f2325e",
)


class ProductKind(NamedTuple):
    """One kind of product that the shop sells."""

    category: str
    query: str
    path: str
    noun: str
    wishes: list[str]
    options: dict[str, list[str]]
    low: int
    high: int


def official_files() -> dict[str, bytes]:
    """The built-in shop as the three official files, by name."""
    products, listings, human = [], {}, {}
    for number, kind in enumerate(_kinds() * PRODUCTS_PER_KIND):
        maker = _Maker(number, kind)
        product = maker.product()
        products.append(product)
        listings[maker.asin] = maker.listing()
        if maker.rng.random() < _HUMAN_SHARE:
            human[maker.asin] = [maker.human_goal() for _ in range(2)]
    contents = {
        "items_shuffle_1000.json": products,
        "items_ins_v2_1000.json": listings,
        "items_human_ins.json": human,
    }
    return {name: json.dumps(content).encode() for name, content in contents.items()}


def _kinds() -> list[ProductKind]:
    return [_kind(line) for line in _KINDS.replace("\n    ", "").strip().splitlines()]


def _kind(line: str) -> ProductKind:
    category, query, path, noun, wishes, options, prices = (p.strip() for p in line.split("|"))
    low, high = prices.split("-")
    groups = (group.split("=") for group in options.split(";"))
    return ProductKind(
        category,
        query,
        " › ".join([_DEPARTMENTS[category], *path.split(" > ")]),
        noun,
        wishes.split(","),
        {name: values.split(",") for name, values in groups},
        int(low),
        int(high),
    )


class _Maker:
    """Makes one product and what is asked about it."""

    def __init__(self, number: int, kind: ProductKind) -> None:
        self.rng = rng = random.Random(f"agentquest shop {number}")
        self.kind = kind
        self.asin = f"BQ{number:04d}" + "".join(rng.choices(_ASIN_CHARACTERS, k=4))
        self.brand = rng.choice(_BRAND_STARTS.split()) + rng.choice(_BRAND_ENDS.split())
        self.wishes = rng.sample(kind.wishes, rng.randint(3, len(kind.wishes)))
        self.options = {
            name: self._some(values, 2, 5)
            for name, values in kind.options.items()
            if rng.random() < 0.85
        }

    def _some(self, values: list[str], least: int, most: int) -> list[str]:
        """Some of the values, in their own order."""
        count = min(len(values), self.rng.randint(least, most))
        chosen = set(self.rng.sample(values, count))
        return [value for value in values if value in chosen]

    def product(self) -> dict[str, Any]:
        rng, kind = self.rng, self.kind
        first, second = self.wishes[:2]
        titled = first.title() if rng.random() < 0.7 else rng.choice(_MOODS.split(","))
        use = rng.choice(_USES[kind.category].split(","))
        fill = {"brand": self.brand, "noun": kind.noun, "first": first, "second": second}
        bullets = [
            rng.choice(_BULLETS).format(wish=wish, Wish=wish.capitalize())
            for wish in self.wishes[1:5]
        ]
        closing = rng.choice(_CLOSING_BULLETS).format(**fill)
        return {
            "asin": self.asin,
            "name": f"{self.brand} {titled} {kind.noun} {use}, {second.title()}",
            "full_description": " ".join(
                text.format(**fill) for text in rng.sample(_DESCRIPTIONS, 2)
            ),
            "small_description": [*bullets, closing],
            "pricing": self._pricing(),
            "images": [f"images/{self.asin}.svg"],
            "product_category": kind.path,
            "category": kind.category,
            "query": kind.query,
            "customization_options": {
                name.title(): [{"value": value, "image": None} for value in values]
                for name, values in self.options.items()
            }
            or "",
        }

    def _pricing(self) -> str:
        rng, kind = self.rng, self.kind
        price = rng.uniform(kind.low, kind.high)
        chance = rng.random()
        if chance < 0.04:
            return ""
        if chance < 0.16:
            return f"${price:.2f} - ${price * rng.uniform(1.1, 1.8):.2f}"
        return f"${price:.2f}"

    def listing(self) -> dict[str, Any]:
        """The product's attributes and, for most, an instruction made from some of them."""
        listing: dict[str, Any] = {"attributes": self.wishes}
        if self.rng.random() < _INSTRUCTED_SHARE:
            wanted = self._some(self.wishes, 2, 4)
            listing["instruction"] = (
                f"Find me {', '.join(wanted[:-1])} {self.kind.query} with {wanted[-1]}"
            )
            listing["instruction_attributes"] = wanted
        return listing

    def human_goal(self) -> dict[str, Any]:
        """A goal in the words of a person in a hurry."""
        rng = self.rng
        wanted = self._some(self.wishes, 1, 2)
        chosen = {name: rng.choice(values) for name, values in self.options.items()}
        noun = self.kind.noun.lower()
        thing = f"{noun} that offers {' and '.join(wanted)}"
        if chosen:
            named = [f"{value} as the {name}" for name, value in chosen.items()]
            thing += f", with {' and '.join(named)}"
        return {
            "asin": self.asin,
            "instruction": rng.choice(_HUMAN_OPENINGS).format(thing=thing) + ".",
            "attributes": self.wishes,
            "options": [f"{name}: {value}" for name, value in chosen.items()] or [""],
            "instruction_attributes": wanted,
            "instruction_options": list(chosen.values()),
            "assignment_id": "",
            "worker_id": "",
        }


# What the shop sells. One entry per kind of product, its further lines indented:
# category | query | path under the department | title noun | attributes | option groups | prices
# with `,` between items, `;` between option groups and `=` before a group's values. No value
# contains a colour inside another word: the reward would mistake it for that colour.
_DEPARTMENTS = {
    "beauty": "Beauty & Personal Care",
    "electronics": "Electronics",
    "fashion": "Clothing, Shoes & Jewelry",
    "garden": "Home & Kitchen",
    "grocery": "Grocery & Gourmet Food",
}

_HUES = "black,white,navy,olive green,dusty rose,charcoal,sand,teal,burgundy,sky blue"
_FITS = "x-small,small,medium,large,x-large,xx-large"
_SHOES = "6,7,8,9,10,11,12"

_KINDS = f"""
beauty | lip balms | Skin Care > Lip Care > Lip Balms | Lip Balm | cruelty free,long lasting,
    fragrance free,natural ingredients,dry lips,travel size | flavor=honey,cherry,
    vanilla mint,coconut,plain;size=single,pack of 3,pack of 6 | 3-16
beauty | body lotions | Skin Care > Body > Lotions | Body Lotion | dry skin,sensitive skin,
    paraben free,fast absorbing,plant based,dermatologist tested | scent=lavender,oat milk,
    citrus grove,unscented;size=4 ounce,8 ounce,16 ounce | 6-32
beauty | shampoos | Hair Care > Shampoo & Conditioner > Shampoos | Shampoo | sulfate free,
    damaged hair,hair growth,color safe,tea tree,deep cleansing | scent=thyme,green apple,
    argan,sea salt;size=8 ounce,12 ounce,32 ounce | 7-38
beauty | makeup brushes | Tools & Accessories > Makeup Brushes | Makeup Brush Set |
    synthetic hair,easy clean,soft bristles,vegan,storage case,rose gold | color=rose gold,
    black,ivory,mint;size=5 piece,10 piece,14 piece | 8-45
beauty | nail polish | Foot, Hand & Nail Care > Nail Polish | Nail Polish | quick drying,
    long lasting,high gloss,non toxic,chip resistant,easy remove | color=coral,plum,pale pink,
    midnight blue,crimson,nude;size=single,set of 4 | 4-22
beauty | toothbrushes | Oral Care > Toothbrushes | Toothbrush | soft bristles,sensitive teeth,
    bpa free,eco friendly,fresh breath,oral hygiene | color=blue,green,grey,pink;size=2 count,
    4 count,8 count | 3-26
beauty | face masks | Skin Care > Face > Masks | Clay Face Mask | oily skin,dead skin,
    deep cleansing,easy use,fine lines,natural ingredients | style=charcoal,green tea,
    rose clay;size=2 ounce,4 ounce | 7-34
beauty | hair dryers | Hair Care > Styling Tools > Hair Dryers | Hair Dryer | fast drying,
    low noise,heat protection,folding handle,frizz control,travel size | color=pearl white,
    matte black,lilac;style=regular,with diffuser | 19-160
electronics | headphones | Headphones > Over-Ear Headphones | Over-Ear Headphones |
    noise cancelling,wireless bluetooth,long battery life,fast charging,stereo sound,
    carrying case | color={_HUES};style=corded,wireless | 18-240
electronics | phone cases | Cell Phones & Accessories > Cases | Phone Case | shock proof,
    wireless charging,non slip,scratch resistant,slim fit,tempered glass | color=clear,black,
    sea green,lavender,red;size=compact,regular,large | 7-38
electronics | usb cables | Computers & Accessories > Cables > USB Cables |
    Braided USB Cable | fast charging,high speed,gold plated,heavy duty,tangle free,
    data transfer | size=3 feet,6 feet,10 feet;color=black,silver,orange | 5-28
electronics | bluetooth speakers | Portable Audio > Speakers | Bluetooth Speaker |
    water resistant,stereo sound,long battery life,hands free,easy carry,deep bass |
    color={_HUES};style=mini,regular | 17-190
electronics | tripods | Camera & Photo > Tripods & Monopods | Camera Tripod | carbon fiber,
    quick release,light weight,easy carry,non slip,adjustable height | size=50 inch,60 inch,
    72 inch;style=with phone mount,plain | 21-230
electronics | keyboards | Computers & Accessories > Keyboards | Mechanical Keyboard |
    backlit keys,wireless bluetooth,low profile,quiet typing,aluminum alloy,usb c |
    color=white,graphite,moss,cream;style=linear,tactile,clicky | 29-180
electronics | security cameras | Camera & Photo > Surveillance | Security Camera |
    night vision,motion detection,easy install,water resistant,two way audio,wide angle |
    style=indoor,outdoor;size=1 pack,2 pack,4 pack | 24-260
electronics | tv mounts | Television & Video > TV Mounts | TV Wall Mount | heavy duty,
    easy install,full motion,carbon steel,tool set,cable management | size=32 inch,55 inch,
    75 inch;style=fixed,tilting | 16-110
fashion | women's dresses | Women > Clothing > Dresses | Women's Midi Dress | machine wash,
    short sleeve,high waist,cotton blend,daily wear,side pockets | color={_HUES};
    size={_FITS} | 18-95
fashion | men's shirts | Men > Clothing > Shirts | Men's Button Down Shirt | long sleeve,
    slim fit,machine wash,wrinkle free,classic fit,breathable fabric | color={_HUES};
    size={_FITS} | 15-80
fashion | women's sneakers | Women > Shoes > Fashion Sneakers | Women's Canvas Sneakers |
    rubber sole,arch support,memory foam,non slip,lace up,day comfort | color={_HUES};
    size={_SHOES} | 24-130
fashion | men's boots | Men > Shoes > Boots | Men's Leather Boots | genuine leather,
    rubber outsole,steel toe,slip resistant,ankle support,winter warm | color=brown,black,tan;
    size={_SHOES} | 45-240
fashion | men's shorts | Men > Clothing > Shorts | Men's Hiking Shorts | quick drying,
    elastic waist,drawstring closure,zipper pockets,loose fit,moisture wicking |
    color={_HUES};size={_FITS} | 14-60
fashion | women's sweaters | Women > Clothing > Sweaters | Women's Knit Sweater | hand wash,
    long sleeve,crew neck,soft material,relaxed fit,winter warm | color={_HUES};
    size={_FITS} | 20-110
fashion | backpacks | Luggage & Travel Gear > Backpacks | Canvas Backpack |
    laptop compartment,water resistant,light weight,padded straps,travel bag,zipper closure |
    color={_HUES};size=small,large | 22-120
fashion | sunglasses | Accessories > Sunglasses & Eyewear | Polarized Sunglasses |
    polarized lenses,uv protection,light weight,metal frame,scratch resistant,high quality |
    color=amber,smoke,blue mirror,green;style=round,square,aviator | 9-75
garden | table lamps | Home Decor > Lamps & Shades > Table Lamps | Table Lamp |
    dimmable light,touch control,living room,energy saving,ceramic base,linen shade |
    color=ivory,slate,copper,sage;style=single,set of 2 | 22-140
garden | area rugs | Home Decor > Rugs > Area Rugs | Area Rug | machine washable,non slip,
    low pile,dining room,stain resistant,easy clean | color=grey,terracotta,indigo,cream;
    size=3 x 5 feet,5 x 7 feet,8 x 10 feet | 29-320
garden | throw pillows | Bedding > Decorative Pillows | Throw Pillow Cover | double sided,
    machine washable,hidden zipper,super soft,living room,cotton linen | color={_HUES};
    size=16 inch,18 inch,20 inch | 7-40
garden | bookcases | Furniture > Home Office Furniture > Bookcases | Ladder Bookcase |
    solid wood,easy assemble,space saving,steel frame,living room,heavy duty | color=walnut,
    white oak,espresso;size=3 tier,4 tier,5 tier | 55-410
garden | storage baskets | Storage & Organization > Baskets | Woven Storage Basket |
    hand woven,collapsible design,carry handles,eco friendly,space saving,machine washable |
    color=natural,grey,white;size=small,medium,large | 12-65
garden | planters | Patio, Lawn & Garden > Pots & Planters | Ceramic Planter | drainage hole,
    weather resistant,self watering,matte finish,easy clean,bamboo saucer | color=white,clay,
    forest green,black;size=4 inch,6 inch,8 inch | 11-75
garden | curtains | Home Decor > Window Treatments > Curtains | Blackout Curtains |
    machine washable,noise reducing,thermal insulated,living room,easy install,wrinkle free |
    color={_HUES};size=52 x 63 inch,52 x 84 inch,52 x 95 inch | 17-90
garden | bar stools | Furniture > Kitchen Furniture > Bar Stools | Counter Stool |
    easy assemble,faux leather,steel frame,height adjustable,high density foam,foot rest |
    color=black,cognac,stone;style=single,set of 2,set of 4 | 48-380
grocery | granola bars | Snack Foods > Bars > Granola | Granola Bars | gluten free,low sugar,
    high fiber,non gmo,individually wrapped,plant based | flavor name=peanut,dark chocolate,
    raspberry,apple cinnamon;size=6 count,12 count,24 count | 5-42
grocery | teas | Beverages > Tea > Herbal | Herbal Tea | caffeine free,usda organic,non gmo,
    natural flavors,resealable bag,loose leaf | flavor name=chamomile,fennel,ginger lemon,
    hibiscus;size=20 bags,40 bags,100 bags | 4-36
grocery | coffees | Beverages > Coffee > Whole Bean | Whole Bean Coffee | fair trade,
    medium roast,usda organic,single origin,low acid,freshly roasted |
    flavor name=breakfast blend,hazelnut,dark roast,mocha;size=12 ounce,2 pound,5 pound | 9-75
grocery | pasta sauces | Sauces, Gravies & Marinades > Pasta Sauce | Tomato Pasta Sauce |
    low sodium,gluten free,dairy free,non gmo,no added sugar,slow cooked | flavor name=basil,
    roasted garlic,spicy,mushroom;size=1 jar,3 jars,6 jars | 4-40
grocery | nut mixes | Snack Foods > Nuts & Seeds > Mixed Nuts | Mixed Nuts | dry roasted,
    low sodium,high protein,keto friendly,resealable bag,gluten free | flavor name=sea salt,
    honey roasted,smoked paprika,unsalted;size=8 ounce,1 pound,3 pound | 7-58
grocery | olive oils | Pantry Staples > Oils > Olive | Extra Virgin Olive Oil | cold pressed,
    single origin,kosher certified,non gmo,glass bottle,great gift | style=mild,robust,
    lemon infused;size=500 milliliter,1 liter,3 liter | 9-85
grocery | crackers | Snack Foods > Crackers | Seed Crackers | gluten free,whole grain,
    plant based,low carb,additive free,high fiber | flavor name=thyme,sesame,sea salt,
    cheddar style;size=1 box,4 boxes,8 boxes | 4-38
grocery | spices | Herbs, Spices & Seasonings > Blends | Spice Blend | salt free,small batch,
    non gmo,gluten free,shaker jar,hand mixed | flavor name=smoky barbecue,curry,taco,
    lemon pepper,five spice;size=2 ounce,5 ounce | 4-24
"""

_BRAND_STARTS = (
    "Alder Bram Calla Dorn Elva Fenn Garo Hesk Ilmo Jora Kelp Luma Moro Nerin Oska Pella"
)
_BRAND_STARTS += " Quill Rusk Solv Tarn Umbra Vesto Wick Yarro Zell"
_BRAND_ENDS = "by dale ette field house ique line mark nest ora ridge side ton well works"

_MOODS = "Classic,Everyday,Premium,Compact,Deluxe,Essential,Modern,Handcrafted,Lightweight,Original"
_MOODS += ",Signature,Professional,Cozy,Sturdy,Fresh"
_USES = {
    "beauty": "for Daily Care,for Women and Men,for the Whole Family,Salon Style,Gift Ready",
    "electronics": "for Home and Office,for Travel,for Work and Play,with Quick Start Guide",
    "fashion": "for Spring and Fall,for Work and Weekend,for Travel,for Every Day",
    "garden": "for Bedroom and Hallway,for Small Spaces,for Home and Office,Farmhouse Style",
    "grocery": "for Snacking,for Family Meals,Pantry Favorite,Party Size,for Gifting",
}

_DESCRIPTIONS = (
    "The {brand} {noun} was made for people who want {first} without fuss.",
    "A {noun} you will reach for again and again: {first}, {second}, and built to last.",
    "Our {noun} brings {first} and {second} together at a fair price.",
    "Simple to choose and easy to love, this {noun} stands for {first}.",
)
_BULLETS = (
    "{Wish}: carefully made so that you notice the difference from the first day.",
    "Looking for {wish}? That is what we had in mind.",
    "{Wish} - tested by our own small team before it leaves the house.",
    "Comes with {wish} and a friendly service that answers within a day.",
)
_CLOSING_BULLETS = (
    "What you get: one {noun} by {brand}, packed in recycled card.",
    "Care: see the label; questions are welcome at any time.",
    "A thoughtful present for birthdays, housewarmings and holidays.",
)
_HUMAN_OPENINGS = (
    "i am looking for {thing}",
    "i need {thing}",
    "can you find me {thing}",
    "i'd like to buy {thing}",
    "please show me {thing}",
    "i want {thing}",
    "looking to order {thing}",
)
