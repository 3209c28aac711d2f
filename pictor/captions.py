"""Composes captions from the names, keywords and style phrases of a drawing."""

import os
import re

from palette import OBJECT_COLOURS

COLOUR_WORDS = set(OBJECT_COLOURS) | {"grey", "golden", "violet", "dark", "light"}
COLOUR_WORD_PATTERN = re.compile(r"\b(" + "|".join(sorted(COLOUR_WORDS)) + r")\b")


def strip_colours(name):
    """Removes the words of colours."""
    return " ".join(word for word in name.split() if word not in COLOUR_WORDS)


def with_article(name):
    """Prefixes "a" or "an", except to plurals and to names that begin with an article, a number or a person."""
    if re.match(r"(the|a|an|two|three|some|person|people)\b", name) or name.endswith("s") and not name.endswith("ss"):
        return name
    return ("an " if name[0] in "aeiou" else "a ") + name


def pluralise(name):
    """Returns the plural of an English noun by the regular rules."""
    if name.endswith("y") and name[-2] not in "aeiou":
        return name[:-1] + "ies"
    if re.search("(s|x|ch|sh)$", name):
        return name + "es"
    return name + "s"


def compose_caption(rng, names, tags, styles, colour=None, addition="", style_probability=0.6):
    """Composes a random caption of one drawing.

    `names` is a drawing's names, the best first; `colour` replaces a colour in the name; `addition` follows the name.
    """
    name = names[0] if rng.random() < 0.7 else rng.choice(names)
    if colour:
        name = (colour + " " + strip_colours(name)).strip()
    form = rng.random()
    if form < 0.38:
        caption = with_article(name)
    elif form < 0.78:
        caption = name
    elif form < 0.9 and tags:
        caption = name + ", " + ", ".join(rng.sample(tags, min(len(tags), rng.randint(1, 3))))
    elif form < 0.96 and tags:
        caption = ", ".join(rng.sample(tags, min(len(tags), rng.randint(2, 4)))) + ((", " + colour) if colour else "")
    else:
        caption = name
    if addition:
        caption += " " + addition
    if styles and rng.random() < style_probability:
        style = rng.choice(styles)
        form = rng.random()
        if form < 0.6:
            caption = f"{caption}, {style}"
        elif form < 0.85 and "," not in caption:
            caption = f"{style} of {with_article(caption)}"
        else:
            caption = f"{style}, {caption}"
    return caption


def read_prompts():
    """Reads prompts.txt, the prompts by which versions are compared; no training recipe has one of them as its caption."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "prompts.txt")) as file:
        return [line.strip() for line in file if line.strip()]
