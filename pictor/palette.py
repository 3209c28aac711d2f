"""Named colours of drawings and of plain backgrounds."""

# Colours in which a drawing of one colour is painted.
OBJECT_COLOURS = {
    "red": (225, 45, 45),
    "orange": (245, 135, 30),
    "yellow": (250, 205, 40),
    "green": (60, 165, 75),
    "teal": (25, 160, 155),
    "blue": (40, 110, 225),
    "purple": (130, 70, 200),
    "pink": (245, 110, 170),
    "brown": (130, 80, 45),
    "black": (25, 25, 28),
    "gray": (135, 140, 148),
    "white": (255, 255, 255),
}
# Name and hue in degrees, for drawings of several shades.
NAMED_HUES = [
    ("red", 0),
    ("orange", 28),
    ("yellow", 50),
    ("green", 120),
    ("teal", 178),
    ("blue", 215),
    ("purple", 270),
    ("pink", 330),
]
BACKGROUND_COLOURS = {
    "white": (255, 255, 255),
    "black": (15, 15, 18),
    "blue": (70, 130, 235),
    "light blue": (190, 224, 250),
    "red": (230, 70, 70),
    "pink": (252, 196, 218),
    "yellow": (255, 221, 87),
    "light yellow": (255, 244, 200),
    "green": (90, 185, 110),
    "light green": (205, 238, 205),
    "mint": (178, 235, 216),
    "purple": (140, 90, 210),
    "lavender": (220, 208, 245),
    "orange": (250, 160, 70),
    "gray": (160, 166, 174),
    "light gray": (232, 235, 240),
    "dark blue": (22, 36, 84),
    "beige": (243, 229, 208),
    "teal": (45, 165, 165),
    "brown": (140, 98, 68),
}
