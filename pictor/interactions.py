"""Makes recipes in which two objects interact: a figure wears, holds, reads, eats, plays or rides something.

Drawings of one emoji set are placed on each other by their bounding boxes. Combinations in prompts.txt are withheld from the
training recipes, so that those prompts stay unseen.
"""

import re
from typing import NamedTuple

from placement import Placement, align_box, placed_box

# Name of a drawing -> word for the figure in a caption.
SUBJECTS = {
    "cat face": "cat",
    "dog face": "dog",
    "lion": "lion",
    "fox": "fox",
    "bear": "bear",
    "panda": "panda",
    "koala": "koala",
    "tiger face": "tiger",
    "rabbit face": "rabbit",
    "mouse face": "mouse",
    "hamster": "hamster",
    "frog": "frog",
    "pig face": "pig",
    "cow face": "cow",
    "monkey face": "monkey",
    "monkey": "monkey",
    "wolf": "wolf",
    "polar bear": "polar bear",
    "raccoon": "raccoon",
    "penguin": "penguin",
    "owl": "owl",
    "robot": "robot",
    "ghost": "ghost",
    "alien": "alien",
    "alien monster": "monster",
    "snowman without snow": "snowman",
    "snowman": "snowman",
    "teddy bear": "teddy bear",
    "front-facing baby chick": "chick",
    "baby chick": "chick",
    "grinning face": "smiling face",
    "smiling face with smiling eyes": "happy face",
    "octopus": "octopus",
    "turtle": "turtle",
    "sloth": "sloth",
    "otter": "otter",
    "duck": "duck",
    "elephant": "elephant",
    "unicorn": "unicorn",
    "dragon face": "dragon",
    "grinning cat": "smiling cat",
    "skull": "skull",
    "jack-o-lantern": "pumpkin",
    "santa claus": "santa claus",
    "mage": "wizard",
    "astronaut": "astronaut",
    "baby": "baby",
    "ogre": "ogre",
    "hedgehog": "hedgehog",
    "squirrel": "squirrel",
    "chipmunk": "squirrel",
}
# Figures that can wear a hat or glasses.
SUBJECTS_WITH_FACE = {
    "cat",
    "dog",
    "lion",
    "fox",
    "bear",
    "panda",
    "koala",
    "tiger",
    "rabbit",
    "mouse",
    "hamster",
    "frog",
    "pig",
    "cow",
    "monkey",
    "wolf",
    "polar bear",
    "raccoon",
    "penguin",
    "owl",
    "robot",
    "ghost",
    "alien",
    "snowman",
    "teddy bear",
    "chick",
    "smiling face",
    "happy face",
    "octopus",
    "smiling cat",
    "skull",
    "pumpkin",
    "ogre",
    "baby",
}
# Name of a drawing -> words for it in a caption; the same in the tables that follow.
HATS = {
    "top hat": ["top hat", "hat", "black hat"],
    "crown": ["crown", "golden crown"],
    "graduation cap": ["graduation cap"],
    "womans hat": ["hat", "sun hat"],
    "billed cap": ["cap", "baseball cap"],
    "rescue workers helmet": ["helmet"],
    "military helmet": ["helmet", "green helmet"],
    "ribbon": ["bow", "pink bow"],
}
EYEWEAR = {"glasses": ["glasses"], "sunglasses": ["sunglasses"]}
FLOWERS = {
    name: [name, "flower"]
    for name in ("rose", "tulip", "sunflower", "hibiscus", "blossom", "cherry blossom", "bouquet")
}
FOOD = {
    "red apple": ["apple", "red apple"],
    "banana": ["banana"],
    "pizza": ["pizza", "slice of pizza"],
    "hamburger": ["burger", "hamburger"],
    "doughnut": ["donut"],
    "cookie": ["cookie"],
    "carrot": ["carrot"],
    "lollipop": ["lollipop"],
    "soft ice cream": ["ice cream"],
    "ice cream": ["ice cream"],
    "taco": ["taco"],
    "watermelon": ["watermelon"],
    "cheese wedge": ["cheese"],
    "bread": ["bread"],
    "strawberry": ["strawberry"],
    "cupcake": ["cupcake"],
    "shortcake": ["cake"],
    "french fries": ["french fries"],
    "hot dog": ["hot dog"],
    "fish": ["fish"],
    "steaming bowl": ["noodles", "soup"],
}
DRINKS = {
    "hot beverage": ["coffee", "tea"],
    "cup with straw": ["juice"],
    "glass of milk": ["milk"],
    "beer mug": ["beer"],
}
INSTRUMENTS = {
    "guitar": ["guitar"],
    "violin": ["violin"],
    "saxophone": ["saxophone"],
    "trumpet": ["trumpet"],
    "drum": ["drum"],
    "accordion": ["accordion"],
}
READING_MATTER = {
    "open book": ["book"],
    "newspaper": ["newspaper"],
    "closed book": ["book"],
    "blue book": ["blue book"],
    "green book": ["green book"],
    "world map": ["map"],
}
HELD_THINGS = {
    "balloon": ["balloon", "red balloon"],
    "wrapped gift": ["gift"],
    "umbrella": ["umbrella"],
    "key": ["key"],
    "magnifying glass tilted left": ["magnifying glass"],
    "trophy": ["trophy"],
    "camera": ["camera"],
    "soccer ball": ["soccer ball", "ball"],
    "basketball": ["basketball", "ball"],
    "magic wand": ["magic wand"],
    "paintbrush": ["paintbrush"],
    "microphone": ["microphone"],
    "hammer": ["hammer"],
    "kite": ["kite"],
    "star": ["star"],
    "light bulb": ["light bulb"],
    "red heart": ["heart", "red heart"],
    "laptop": ["laptop"],
    "shield": ["shield"],
    "dagger": ["sword", "dagger"],
    "candle": ["candle"],
    "mushroom": ["mushroom"],
    "maple leaf": ["leaf"],
    "bell": ["bell"],
    "video game": ["game controller"],
    "jack-o-lantern": ["pumpkin"],
    "broom": ["broom"],
    "crystal ball": ["crystal ball"],
    "red paper lantern": ["lantern"],
    "pencil": ["pencil"],
    "money bag": ["money bag"],
    "flashlight": ["flashlight"],
}
# Name of a drawing -> phrases for a figure on top of it.
MOUNTS = {
    "bicycle": ["riding a bicycle", "on a bicycle"],
    "motorcycle": ["riding a motorcycle", "on a motorcycle"],
    "skateboard": ["on a skateboard", "riding a skateboard"],
    "motor scooter": ["riding a scooter"],
    "kick scooter": ["on a scooter"],
    "sled": ["on a sled"],
    "horse": ["riding a horse"],
    "elephant": ["riding an elephant"],
    "camel": ["riding a camel"],
    "whale": ["riding a whale", "on a whale"],
    "turtle": ["riding a turtle"],
    "rocket": ["riding a rocket"],
    "cloud": ["on a cloud", "sitting on a cloud"],
    "mushroom": ["on a mushroom", "sitting on a mushroom"],
    "wood": ["on a log"],
    "couch and lamp": ["on a couch"],
    "chair": ["on a chair"],
    "bed": ["on a bed"],
    "surfboard": ["surfing"],
}
# Name of a drawing -> phrases for a figure behind its upper edge.
VEHICLES_AND_CONTAINERS = {
    "sailboat": ["in a boat", "in a sailboat"],
    "canoe": ["in a boat", "in a canoe"],
    "automobile": ["driving a car", "in a red car"],
    "sport utility vehicle": ["driving a car", "in a blue car"],
    "racing car": ["driving a race car"],
    "tractor": ["driving a tractor"],
    "bathtub": ["in a bathtub"],
    "shopping cart": ["in a shopping cart"],
    "wrapped gift": ["in a box"],
    "airplane": ["flying an airplane"],
    "hot springs": ["in a hot spring"],
}
# Name of a drawing -> plural.
TREE_FRUIT = {
    "tangerine": "oranges",
    "lemon": "lemons",
    "cherries": "cherries",
    "pear": "pears",
    "peach": "peaches",
    "red heart": "hearts",
    "star": "stars",
    "coconut": "coconuts",
}
# Combinations in prompts.txt.
WITHHELD_COMBINATIONS = re.compile(
    r"\bcat\b.*\bhat\b|robot.*(flower|rose|tulip|hibiscus|blossom|bouquet)|lion.*crown|\bowl\b.*book|ghost.*pumpkin|pumpkin.*ghost|tree with.*apple|wizard.*crystal"
)
# Words without an indefinite article, besides those that end in s.
NAMES_WITHOUT_ARTICLE = (
    "coffee",
    "tea",
    "milk",
    "juice",
    "beer",
    "noodles",
    "soup",
    "bread",
    "cheese",
    "santa claus",
    "ice cream",
    "pizza",
)
TREE = "deciduous tree"
# Places of fruit on a tree, as shares of its bounding box.
FRUIT_SPOTS = [(0.3, 0.18), (0.68, 0.2), (0.5, 0.38), (0.25, 0.42), (0.75, 0.45), (0.48, 0.12)]
KIND_FREQUENCIES = {"hat": 5, "eyes": 1.5, "hold": 7, "ride": 3, "inside": 1.5, "tree": 0.5}
HELD_TABLES = [
    (FLOWERS, ["holding", "holding", "with"]),
    (FOOD, ["eating", "holding", "with"]),
    (DRINKS, ["drinking"]),
    (INSTRUMENTS, ["playing", "playing", "with"]),
    (READING_MATTER, ["reading", "reading", "holding"]),
    (HELD_THINGS, ["holding", "holding", "with", "carrying"]),
    (HELD_THINGS, ["holding", "with"]),
]
SUBJECTS_MIN = 5  # in a set, below which no interactions are made of it


class DrawingIndex(NamedTuple):
    """The drawings that interactions can use."""

    drawings_by_name: dict  # (set, normalised name) -> rows
    sets: list
    subjects_by_set: dict  # set -> keys of SUBJECTS that it has


class Figure(NamedTuple):
    """The subject of an interaction."""

    drawing: int
    word: str
    is_flipped: bool
    box: tuple


def normalise_name(name):
    """Removes apostrophes, which the sets write in different ways."""
    return re.sub(r"['’]", "", name)


def index_drawings(rows, pool):
    """Indexes the rows in `pool` whose name is in one of the tables above."""
    tables = (
        SUBJECTS,
        HATS,
        EYEWEAR,
        FLOWERS,
        FOOD,
        DRINKS,
        INSTRUMENTS,
        READING_MATTER,
        HELD_THINGS,
        MOUNTS,
        VEHICLES_AND_CONTAINERS,
        TREE_FRUIT,
    )
    known_names = {normalise_name(name) for table in tables for name in table} | {TREE}
    drawings_by_name = {}
    for row in pool:
        name = normalise_name(rows[row]["names"][0])
        if name in known_names:
            drawings_by_name.setdefault((rows[row]["set"], name), []).append(row)
    sets = sorted({set_name for set_name, _ in drawings_by_name})
    subjects_by_set = {
        set_name: [name for name in SUBJECTS if (set_name, normalise_name(name)) in drawings_by_name]
        for set_name in sets
    }
    return DrawingIndex(drawings_by_name, sets, subjects_by_set)


def with_article_if_countable(name):
    """Prefixes "a" or "an" where the word takes it."""
    if name.endswith("s") or name in NAMES_WITHOUT_ARTICLE:
        return name
    return ("an " if name[0] in "aeiou" else "a ") + name


def choose_from_table(rng, index, set_name, table):
    """Chooses a drawing and its caption words from a table; None if the set lacks the drawing."""
    name = rng.choice(list(table))
    drawings = index.drawings_by_name.get((set_name, normalise_name(name)))
    if not drawings:
        return None
    drawing = rng.choice(drawings)
    return drawing, rng.choice(table[name]) if isinstance(table[name], list) else table[name]


def make_interaction(rng, index, traits):
    """Returns a caption and the placements from back to front, or None if the set lacks a drawing.

    `traits` are the DrawingTraits of all rows.
    """
    if not index.sets:
        return None
    set_name = rng.choice(index.sets)
    if len(index.subjects_by_set[set_name]) < SUBJECTS_MIN:
        return None
    kind = rng.choices(list(KIND_FREQUENCIES), list(KIND_FREQUENCIES.values()))[0]
    if kind == "tree":
        return make_tree(rng, index, set_name, traits)
    name = rng.choice(index.subjects_by_set[set_name])
    drawing = rng.choice(index.drawings_by_name[(set_name, normalise_name(name))])
    figure = Figure(drawing, SUBJECTS[name], rng.random() < 0.4, traits[drawing].box)
    if kind in ("hat", "eyes"):
        return make_wearer(rng, index, set_name, traits, figure, kind == "hat")
    if kind == "hold":
        return make_holder(rng, index, set_name, traits, figure)
    return make_rider(rng, index, set_name, traits, figure, kind == "ride")


def make_tree(rng, index, set_name, traits):
    """Places fruit on a tree."""
    trees = index.drawings_by_name.get((set_name, TREE))
    fruit = choose_from_table(rng, index, set_name, TREE_FRUIT)
    if not trees or not fruit:
        return None
    fruit_drawing, fruit_words = fruit
    left, top, right, bottom = placed_box(traits[trees[0]].box, 0.95, 0, 0)
    spots = rng.sample(FRUIT_SPOTS, rng.choice([3, 4, 5]))
    placements = [
        Placement(fruit_drawing, 0.14, left + (right - left) * across, top + (bottom - top) * down)
        for across, down in spots
    ]
    return f"a tree with {fruit_words}", [Placement(trees[0], 0.95, 0, 0), *placements]


def make_wearer(rng, index, set_name, traits, figure, is_hat):
    """Places a hat or glasses on a figure."""
    if figure.word not in SUBJECTS_WITH_FACE or (not is_hat and figure.word == "penguin"):
        return None
    item = choose_from_table(rng, index, set_name, HATS if is_hat else EYEWEAR)
    if not item:
        return None
    item_drawing, item_words = item
    item_box = traits[item_drawing].box
    item_width, item_height = item_box[2] - item_box[0], item_box[3] - item_box[1]
    scale = rng.uniform(0.66, 0.76) if is_hat else rng.uniform(0.85, 0.98)
    x, y = align_box(figure.box, scale, (0.5, 1), (rng.uniform(-0.05, 0.05), 0.95), figure.is_flipped)
    left, top, right, bottom = placed_box(figure.box, scale, x, y, figure.is_flipped)
    if is_hat:
        item_scale = min(0.62, (right - left) * rng.uniform(0.55, 0.78) / item_width)
        hat_height = item_scale * item_height
        # The hat overlaps the head and stays in the picture.
        target = ((left + right) / 2 + rng.uniform(-0.06, 0.06), max(top + 0.3 * hat_height, -0.98 + hat_height))
        item_x, item_y = align_box(item_box, item_scale, (0.5, 1), target)
    else:
        item_scale = (right - left) * rng.uniform(0.6, 0.8) / item_width
        target = ((left + right) / 2, top + (bottom - top) * rng.uniform(0.4, 0.5))
        item_x, item_y = align_box(item_box, item_scale, (0.5, 0.5), target)
    subject, item_phrase = with_article_if_countable(figure.word), with_article_if_countable(item_words)
    caption = rng.choice(
        [
            f"{subject} wearing {item_phrase}",
            f"{subject} wearing {item_phrase}",
            f"{subject} with {item_phrase}",
            f"{subject} in {item_phrase}" if is_hat else f"{subject} with {item_phrase}",
            f"{figure.word} wearing {item_words}",
        ]
    )
    return caption, [
        Placement(figure.drawing, scale, x, y, figure.is_flipped),
        Placement(item_drawing, item_scale, item_x, item_y),
    ]


def make_holder(rng, index, set_name, traits, figure):
    """Places a thing in front of a figure: beside it, or in the middle if it is read or played."""
    table, verbs = rng.choice(HELD_TABLES)
    item = choose_from_table(rng, index, set_name, table)
    if not item:
        return None
    item_drawing, item_words = item
    scale = rng.uniform(0.72, 0.86)
    side = rng.choice([-1, 1])
    is_central = table is READING_MATTER or table is INSTRUMENTS
    shift = -side * rng.uniform(0.08, 0.16) * (0 if is_central else 1)
    x, y = align_box(figure.box, scale, (0.5, 0.5), (shift, rng.uniform(-0.14, 0)), figure.is_flipped)
    left, top, right, bottom = placed_box(figure.box, scale, x, y, figure.is_flipped)
    item_scale = rng.uniform(0.34, 0.46)
    item_box = traits[item_drawing].box
    target_x = (left + right) / 2 + side * (right - left) * (
        rng.uniform(0, 0.12) if is_central else rng.uniform(0.3, 0.46)
    )
    target_y = min(top + (bottom - top) * rng.uniform(0.74, 0.86), 0.95 - item_scale * (item_box[3] - item_box[1]) / 2)
    target_x = max(-0.97 + item_scale * 0.9, min(0.97 - item_scale * 0.9, target_x))
    item_x, item_y = align_box(item_box, item_scale, (0.5, 0.5), (target_x, target_y))
    return f"{with_article_if_countable(figure.word)} {rng.choice(verbs)} {with_article_if_countable(item_words)}", [
        Placement(figure.drawing, scale, x, y, figure.is_flipped),
        Placement(item_drawing, item_scale, item_x, item_y, rng.random() < 0.3),
    ]


def make_rider(rng, index, set_name, traits, figure, is_on_top):
    """Places a figure on top of a thing, or behind its upper edge as if it were inside."""
    item = choose_from_table(rng, index, set_name, MOUNTS if is_on_top else VEHICLES_AND_CONTAINERS)
    if not item or item[0] == figure.drawing:
        return None
    item_drawing, item_words = item
    item_box = traits[item_drawing].box
    item_scale = rng.uniform(0.66, 0.82)
    item_x, item_y = align_box(item_box, item_scale, (0.5, 1), (0, 0.96))
    _, item_top, _, item_bottom = placed_box(item_box, item_scale, item_x, item_y)
    scale = rng.uniform(0.44, 0.54)
    overlap = rng.uniform(0.2, 0.38) if is_on_top else rng.uniform(0.35, 0.5)
    figure_bottom = max(item_top + (item_bottom - item_top) * overlap, -0.95 + scale * (figure.box[3] - figure.box[1]))
    x, y = align_box(figure.box, scale, (0.5, 1), (rng.uniform(-0.12, 0.12), figure_bottom), figure.is_flipped)
    rider = Placement(figure.drawing, scale, x, y, figure.is_flipped)
    mount = Placement(item_drawing, item_scale, item_x, item_y)
    return f"{with_article_if_countable(figure.word)} {item_words}", [mount, rider] if is_on_top else [rider, mount]
