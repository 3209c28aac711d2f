"""Recipes in which two objects interact: a figure wears, holds, reads, eats, plays or rides something.

Drawings of one emoji set are placed on each other by their bounding boxes. Combinations in prompts.txt are never made, so that
those prompts stay unseen.
"""
import re

SUBJECTS = {'cat face': 'cat', 'dog face': 'dog', 'lion': 'lion', 'fox': 'fox', 'bear': 'bear', 'panda': 'panda', 'koala': 'koala', 'tiger face': 'tiger', 'rabbit face': 'rabbit', 'mouse face': 'mouse',
            'hamster': 'hamster', 'frog': 'frog', 'pig face': 'pig', 'cow face': 'cow', 'monkey face': 'monkey', 'monkey': 'monkey', 'wolf': 'wolf', 'polar bear': 'polar bear', 'raccoon': 'raccoon', 'penguin': 'penguin', 'owl': 'owl',
            'robot': 'robot', 'ghost': 'ghost', 'alien': 'alien', 'alien monster': 'monster', 'snowman without snow': 'snowman', 'snowman': 'snowman', 'teddy bear': 'teddy bear', 'front-facing baby chick': 'chick', 'baby chick': 'chick',
            'grinning face': 'smiling face', 'smiling face with smiling eyes': 'happy face', 'octopus': 'octopus', 'turtle': 'turtle', 'sloth': 'sloth', 'otter': 'otter', 'duck': 'duck', 'elephant': 'elephant', 'unicorn': 'unicorn',
            'dragon face': 'dragon', 'grinning cat': 'smiling cat', 'skull': 'skull', 'jack-o-lantern': 'pumpkin', 'santa claus': 'santa claus', 'mage': 'wizard', 'astronaut': 'astronaut', 'baby': 'baby', 'ogre': 'ogre', 'hedgehog': 'hedgehog', 'squirrel': 'squirrel', 'chipmunk': 'squirrel'}
FACED = {'cat', 'dog', 'lion', 'fox', 'bear', 'panda', 'koala', 'tiger', 'rabbit', 'mouse', 'hamster', 'frog', 'pig', 'cow', 'monkey', 'wolf', 'polar bear', 'raccoon', 'penguin', 'owl', 'robot', 'ghost', 'alien', 'snowman', 'teddy bear', 'chick', 'smiling face', 'happy face', 'octopus', 'smiling cat', 'skull', 'pumpkin', 'ogre', 'baby'}
HATS = {'top hat': ['top hat', 'hat', 'black hat'], 'crown': ['crown', 'golden crown'], 'graduation cap': ['graduation cap'], 'womans hat': ['hat', 'sun hat'], 'billed cap': ['cap', 'baseball cap'], 'rescue workers helmet': ['helmet'], 'military helmet': ['helmet', 'green helmet'], 'ribbon': ['bow', 'pink bow']}
EYES = {'glasses': ['glasses'], 'sunglasses': ['sunglasses']}
FLOWERS = {k: [k, 'flower'] for k in ('rose', 'tulip', 'sunflower', 'hibiscus', 'blossom', 'cherry blossom', 'bouquet')}
FOOD = {'red apple': ['apple', 'red apple'], 'banana': ['banana'], 'pizza': ['pizza', 'slice of pizza'], 'hamburger': ['burger', 'hamburger'], 'doughnut': ['donut'], 'cookie': ['cookie'], 'carrot': ['carrot'], 'lollipop': ['lollipop'], 'soft ice cream': ['ice cream'], 'ice cream': ['ice cream'],
        'taco': ['taco'], 'watermelon': ['watermelon'], 'cheese wedge': ['cheese'], 'bread': ['bread'], 'strawberry': ['strawberry'], 'cupcake': ['cupcake'], 'shortcake': ['cake'], 'french fries': ['french fries'], 'hot dog': ['hot dog'], 'fish': ['fish'], 'steaming bowl': ['noodles', 'soup']}
DRINK = {'hot beverage': ['coffee', 'tea'], 'cup with straw': ['juice'], 'glass of milk': ['milk'], 'beer mug': ['beer']}
MUSIC = {'guitar': ['guitar'], 'violin': ['violin'], 'saxophone': ['saxophone'], 'trumpet': ['trumpet'], 'drum': ['drum'], 'accordion': ['accordion']}
READ = {'open book': ['book'], 'newspaper': ['newspaper'], 'closed book': ['book'], 'blue book': ['blue book'], 'green book': ['green book'], 'world map': ['map']}
THINGS = {'balloon': ['balloon', 'red balloon'], 'wrapped gift': ['gift'], 'umbrella': ['umbrella'], 'key': ['key'], 'magnifying glass tilted left': ['magnifying glass'], 'trophy': ['trophy'], 'camera': ['camera'], 'soccer ball': ['soccer ball', 'ball'], 'basketball': ['basketball', 'ball'],
          'magic wand': ['magic wand'], 'paintbrush': ['paintbrush'], 'microphone': ['microphone'], 'hammer': ['hammer'], 'kite': ['kite'], 'star': ['star'], 'light bulb': ['light bulb'], 'red heart': ['heart', 'red heart'], 'laptop': ['laptop'], 'shield': ['shield'], 'dagger': ['sword', 'dagger'], 'candle': ['candle'],
          'mushroom': ['mushroom'], 'maple leaf': ['leaf'], 'bell': ['bell'], 'video game': ['game controller'], 'jack-o-lantern': ['pumpkin'], 'broom': ['broom'], 'crystal ball': ['crystal ball'], 'red paper lantern': ['lantern'], 'pencil': ['pencil'], 'money bag': ['money bag'], 'flashlight': ['flashlight']}
RIDES = {'bicycle': ['riding a bicycle', 'on a bicycle'], 'motorcycle': ['riding a motorcycle', 'on a motorcycle'], 'skateboard': ['on a skateboard', 'riding a skateboard'], 'motor scooter': ['riding a scooter'], 'kick scooter': ['on a scooter'], 'sled': ['on a sled'], 'horse': ['riding a horse'], 'elephant': ['riding an elephant'],
         'camel': ['riding a camel'], 'whale': ['riding a whale', 'on a whale'], 'turtle': ['riding a turtle'], 'rocket': ['riding a rocket'], 'cloud': ['on a cloud', 'sitting on a cloud'], 'mushroom': ['on a mushroom', 'sitting on a mushroom'], 'wood': ['on a log'], 'couch and lamp': ['on a couch'], 'chair': ['on a chair'], 'bed': ['on a bed'], 'surfboard': ['surfing']}
INSIDE = {'sailboat': ['in a boat', 'in a sailboat'], 'canoe': ['in a boat', 'in a canoe'], 'automobile': ['driving a car', 'in a red car'], 'sport utility vehicle': ['driving a car', 'in a blue car'], 'racing car': ['driving a race car'], 'tractor': ['driving a tractor'], 'bathtub': ['in a bathtub'], 'shopping cart': ['in a shopping cart'], 'wrapped gift': ['in a box'], 'airplane': ['flying an airplane'], 'hot springs': ['in a hot spring']}
FRUIT = {'tangerine': 'oranges', 'lemon': 'lemons', 'cherries': 'cherries', 'pear': 'pears', 'peach': 'peaches', 'red heart': 'hearts', 'star': 'stars', 'coconut': 'coconuts'}
# combinations in prompts.txt
UNSEEN = re.compile(r'\bcat\b.*\bhat\b|robot.*(flower|rose|tulip|hibiscus|blossom|bouquet)|lion.*crown|\bowl\b.*book|ghost.*pumpkin|pumpkin.*ghost|tree with.*apple|wizard.*crystal')
key = lambda name: re.sub(r"['’]", '', name)

def index(rows, pool):
    """(set, name) -> drawings, for the names in the tables above."""
    known = {key(k) for t in (SUBJECTS, HATS, EYES, FLOWERS, FOOD, DRINK, MUSIC, READ, THINGS, RIDES, INSIDE, FRUIT) for k in t} | {'deciduous tree'}
    by = {}
    for i in pool:
        n = key(rows[i]['names'][0])
        if n in known: by.setdefault((rows[i]['set'], n), []).append(i)
    sets = sorted({s for s, n in by})
    return by, sets, {s: [n for n in SUBJECTS if (s, key(n)) in by] for s in sets}

def a(n): return n if n.endswith('s') or n in ('coffee', 'tea', 'milk', 'juice', 'beer', 'noodles', 'soup', 'bread', 'cheese', 'santa claus', 'ice cream', 'pizza') else ('an ' if n[0] in 'aeiou' else 'a ') + n

def place(box, s, at, to, flip=False):
    """The centre of a drawing whose point `at` (0..1 across, 0..1 down its bounding box) is to be at `to`."""
    x0, y0, x1, y1 = box
    if flip: x0, x1 = -x1, -x0
    return to[0] - s * (x0 + (x1 - x0) * at[0]), to[1] - s * (y0 + (y1 - y0) * at[1])

def edges(box, s, x, y, flip=False):
    x0, y0, x1, y1 = box
    if flip: x0, x1 = -x1, -x0
    return x + s * x0, y + s * y0, x + s * x1, y + s * y1

def make(R, found, info):
    """-> (caption, objects from back to front) or None if the set lacks a drawing."""
    by, sets, subjects = found
    if not sets: return None
    S = R.choice(sets)
    if len(subjects[S]) < 5: return None
    def one(table):
        n = R.choice(list(table)); i = by.get((S, key(n)))
        return (R.choice(i), R.choice(table[n]) if isinstance(table[n], list) else table[n]) if i else None
    kind = R.choices(['hat', 'eyes', 'hold', 'ride', 'inside', 'tree'], [5, 1.5, 7, 3, 1.5, .5])[0]
    if kind == 'tree':
        t, f = by.get((S, 'deciduous tree')), one(FRUIT)
        if not t or not f: return None
        tree = (t[0], .95, 0, 0, False, 0, None); e = edges(info[t[0]][3], .95, 0, 0); w, h = e[2] - e[0], e[3] - e[1]; n = R.choice([3, 4, 5])
        spots = R.sample([(.3, .18), (.68, .2), (.5, .38), (.25, .42), (.75, .45), (.48, .12)], n)
        return f'a tree with {f[1]}', [tree] + [(f[0], .14, e[0] + w * x, e[1] + h * y, False, 0, None) for x, y in spots]
    n = R.choice(subjects[S]); i = R.choice(by[(S, key(n))]); who = SUBJECTS[n]; flip = R.random() < .4; box = info[i][3]; me = a(who)
    if kind in ('hat', 'eyes'):
        if who not in FACED or (kind == 'eyes' and who == 'penguin'): return None
        it = one(HATS if kind == 'hat' else EYES)
        if not it: return None
        b2 = info[it[0]][3]; w2 = b2[2] - b2[0]; h2 = b2[3] - b2[1]
        s = R.uniform(.66, .76) if kind == 'hat' else R.uniform(.85, .98); x, y = place(box, s, (.5, 1), (R.uniform(-.05, .05), .95), flip); e = edges(box, s, x, y, flip); w, h = e[2] - e[0], e[3] - e[1]
        if kind == 'hat':
            s2 = min(.62, w * R.uniform(.55, .78) / w2); tall = s2 * h2
            x2, y2 = place(b2, s2, (.5, 1), ((e[0] + e[2]) / 2 + R.uniform(-.06, .06), max(e[1] + .3 * tall, -.98 + tall)))
        else: s2 = w * R.uniform(.6, .8) / w2; x2, y2 = place(b2, s2, (.5, .5), ((e[0] + e[2]) / 2, e[1] + h * R.uniform(.4, .5)))
        c = R.choice([f'{me} wearing {a(it[1])}', f'{me} wearing {a(it[1])}', f'{me} with {a(it[1])}', f'{me} in {a(it[1])}' if kind == 'hat' else f'{me} with {a(it[1])}', f'{who} wearing {it[1]}'])
        return c, [(i, s, x, y, flip, 0, None), (it[0], s2, x2, y2, False, 0, None)]
    if kind == 'hold':
        table, verbs = R.choice([(FLOWERS, ['holding', 'holding', 'with']), (FOOD, ['eating', 'holding', 'with']), (DRINK, ['drinking']), (MUSIC, ['playing', 'playing', 'with']), (READ, ['reading', 'reading', 'holding']), (THINGS, ['holding', 'holding', 'with', 'carrying']), (THINGS, ['holding', 'with'])])
        it = one(table)
        if not it: return None
        s = R.uniform(.72, .86); side = R.choice([-1, 1]); low = table is READ or table is MUSIC
        x, y = place(box, s, (.5, .5), (-side * R.uniform(.08, .16) * (0 if low else 1), R.uniform(-.14, 0)), flip); e = edges(box, s, x, y, flip); w, h = e[2] - e[0], e[3] - e[1]
        s2 = R.uniform(.34, .46); b2 = info[it[0]][3]
        to = ((e[0] + e[2]) / 2 + side * w * (R.uniform(0, .12) if low else R.uniform(.3, .46)), min(e[1] + h * R.uniform(.74, .86), .95 - s2 * (b2[3] - b2[1]) / 2))
        x2, y2 = place(b2, s2, (.5, .5), (max(-.97 + s2 * .9, min(.97 - s2 * .9, to[0])), to[1]))
        return f'{me} {R.choice(verbs)} {a(it[1])}', [(i, s, x, y, flip, 0, None), (it[0], s2, x2, y2, R.random() < .3, 0, None)]
    it = one(RIDES if kind == 'ride' else INSIDE)
    if not it or it[0] == i: return None
    b2 = info[it[0]][3]; s2 = R.uniform(.66, .82); x2, y2 = place(b2, s2, (.5, 1), (0, .96)); e2 = edges(b2, s2, x2, y2); s = R.uniform(.44, .54)
    bottom = max(e2[1] + (e2[3] - e2[1]) * (R.uniform(.2, .38) if kind == 'ride' else R.uniform(.35, .5)), -.95 + s * (box[3] - box[1]))
    x, y = place(box, s, (.5, 1), (R.uniform(-.12, .12), bottom), flip); mine, its = (i, s, x, y, flip, 0, None), (it[0], s2, x2, y2, False, 0, None)
    return f'{me} {it[1]}', [its, mine] if kind == 'ride' else [mine, its]
