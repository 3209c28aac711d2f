"""Compare generators on the same prompts, seeds and steps, from int8 files in the released format.
usage: score.py CARRY WORK OUT NAME=dit.int8.safetensors... [--seconds 70] [--tiny]

Writes OUT/sheet-NAME.jpg (the 48 prompts: 20 steps; 8 steps; 20 steps with ", flat illustration" if the prompt names no style),
OUT/copies.jpg (pictures most similar to a training picture, each above that picture) and OUT/score.json.

Retrieval needs no external model: a small contrastive network is trained here on the training latents to match latents with
MiniLM caption vectors. One drawing in forty is held out; the accuracy on those is reported too. Each generated latent is then
matched against all requested captions."""
import argparse, json, os, re, time, zlib
import numpy as np, torch, torch.nn as nn, torch.nn.functional as F
from tokenizers import Tokenizer
from model import *
from sample import load_weights

A = argparse.ArgumentParser()
for k in ('carry', 'work', 'out'): A.add_argument(k)
A.add_argument('models', nargs='+'); A.add_argument('--seconds', type=float, default=70); A.add_argument('--tiny', action='store_true')
A = A.parse_args(); CARRY, WORK, OUT, TINY = A.carry, A.work, A.out, A.tiny
dev = 'cpu' if TINY else 'cuda'; t00 = time.time(); torch.manual_seed(0)
torch.backends.cuda.matmul.allow_tf32 = True; torch.backends.cudnn.allow_tf32 = True
log = lambda *a: print(f'[{time.time()-t00:6.0f}s]', *a, flush=True)
STYLED = re.compile(r'line art|3d|emoji|silhouette|pixel|sticker|illustration|drawing|avatar|portrait|icon', re.I)
GUIDANCE, SEEDS = 4.0, (0,) if TINY else (0, 1)
report = {}
def keep(**more): report.update(more); json.dump(report, open(OUT + '/score.json', 'w'), indent=1)

text = TextEncoder.from_hf(load_weights(CARRY + '/minilm_int8.safetensors')).to(dev); tok = Tokenizer.from_file(CARRY + '/tokenizer.json')
@torch.no_grad()
def encode_text(caps):
    ids, mask = tokenize(tok, caps); ids, mask = ids.to(dev), mask.to(dev); s, p = text(ids, mask); return s, mask, p
@torch.no_grad()
def sample(m, cond, steps, seed):
    """Latents [n, 4, 32, 32]. A distilled generator needs one pass per step."""
    out = []
    noise = torch.randn(len(cond[0]), 4, 32, 32, generator=torch.Generator().manual_seed(seed)); t = schedule(steps)
    for k in range(0, len(noise), 280):
        s, mask, p = (c[k:k + 280] for c in cond); x = noise[k:k + 280].to(dev)
        for i in range(steps):
            tt = torch.full((len(x),), t[i].item(), device=dev)
            if hasattr(m, 'w1'): v = m(x, tt, s, mask, p, torch.full_like(tt, GUIDANCE))
            else: v, u = m(torch.cat([x, x]), torch.cat([tt, tt]), torch.cat([s, s]), torch.cat([mask, torch.zeros_like(mask)]), torch.cat([p, p])).chunk(2); v = u + GUIDANCE * (v - u)
            x = x + (t[i + 1] - t[i]).item() * v
        out.append(x)
    return torch.cat(out)
dec = Decoder().eval().to(dev); dec.load_state_dict(load_weights(CARRY + '/vae/decoder.int8.safetensors'))
@torch.no_grad()
def picture(z, px=192):
    return torch.cat([F.interpolate(dec(x.float()).clamp(-1, 1), (px, px), mode='area') for x in z.split(64)])
def grid(img, cols=8):
    n, _, h, w = img.shape; img = torch.cat([img, img.new_ones(-n % cols, 3, h, w)])
    return ((img + 1) * 127.5).round().byte().view(-1, cols, 3, h, w).permute(0, 3, 1, 4, 2).reshape(-1, cols * w, 3).cpu().numpy()
def jpeg(rows, path):
    from PIL import Image
    Image.fromarray(np.concatenate(rows)).save(path, quality=86)

# ---- pictures
asked = [l.strip() for l in open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'prompts.txt')) if l.strip()]
held = json.load(open(WORK + '/capsheld.json'))
if TINY: asked, held = asked[:2], held[:6]
cond, served = encode_text(asked + held), encode_text([p if STYLED.search(p) else p + ', flat illustration' for p in asked])
n = len(asked); drawn = {}
for arg in A.models:
    name, path = arg.split('=', 1); w = load_weights(path); d = w['inp.weight'].shape[0]
    m = DiT(d=d, depth=sum(k.endswith('.proj.weight') for k in w), heads=d // 64 if d > 64 else 4, distilled='w1.weight' in w).eval().to(dev); m.load_state_dict(w)
    for steps in ((2, 1) if TINY else (20, 8)):
        for seed in SEEDS: drawn[name, 20 if steps in (2, 20) else 8, seed] = sample(m, cond, steps, seed)
    gap = np.full((24, 8 * 192, 3), 255, np.uint8)
    jpeg([grid(picture(drawn[name, 20, 0][:n])), gap, grid(picture(drawn[name, 8, 0][:n])), gap, grid(picture(sample(m, served, 2 if TINY else 20, 0)))], f'{OUT}/sheet-{name}.jpg')
    log('drawn', name, 'one pass a step' if hasattr(m, 'w1') else 'two passes a step')

# ---- copies: distance to the nearest training latent (both minus the mean), relative to the picture's own norm
lat = torch.from_numpy(np.load(WORK + '/lat.npy')).to(dev); pooled = torch.from_numpy(np.load(WORK + '/pooled.npy')).to(dev).float(); real = torch.from_numpy(np.load(WORK + '/heldlat.npy')).to(dev)[:len(held)].float()
caps = json.load(open(WORK + '/caps.json')); mean = lat[:: max(1, len(lat) // 50000)].float().mean(0)
def nearest(x):
    x = (x - mean).flatten(1); best, where = torch.full((len(x),), 1e9, device=dev), torch.zeros(len(x), dtype=torch.long, device=dev)
    for k in range(0, len(lat), 16384):
        y = (lat[k:k + 16384].float() - mean).flatten(1); d = ((x * x).sum(1)[:, None] + (y * y).sum(1) - 2 * x @ y.T).clamp_min(0).sqrt(); v, i = d.min(1); low = v < best
        best = torch.where(low, v, best); where = torch.where(low, i + k, where)
    return best / x.norm(dim=1), where
def spread(d): return dict(q05=d.quantile(.05).item(), q25=d.quantile(.25).item(), q50=d.median().item(), **{f'under {c}': (d < c).float().mean().item() for c in (.15, .3, .45)})
copies = {'real held-out recipes': spread(nearest(real)[0])}; rows = []
for name in dict.fromkeys(k[0] for k in drawn):
    z = drawn[name, 20, 0]; d, i = nearest(z); copies[name + ', prompts'], copies[name + ', held-out captions'] = spread(d[:n]), spread(d[n:])
    close = d.argsort()[:2 if TINY else 8]; rows += [grid(picture(z[close], 128)), grid(picture(lat[i[close]], 128))]
    copies[name + ', closest'] = [(round(d[k].item(), 3), (asked + held)[k], caps[i[k]]) for k in close.tolist()]
jpeg(rows, OUT + '/copies.jpg'); keep(copies=copies); log('copies', {k: {a: round(b, 3) for a, b in v.items()} for k, v in copies.items() if isinstance(v, dict)})

# ---- the retrieval network
class Eye(nn.Module):
    def __init__(self, c=192, out=256):
        super().__init__()
        self.body = nn.Sequential(nn.PixelUnshuffle(2), nn.Conv2d(16, c, 3, padding=1), Res(c), Res(c), nn.Conv2d(c, 2 * c, 3, stride=2, padding=1), Res(2 * c), Res(2 * c), RMSNorm2d(2 * c), nn.SiLU(), nn.Conv2d(2 * c, 2 * c, 1), nn.SiLU())
        self.head = nn.Linear(4 * c, out)
    def forward(self, z): h = self.body(z); return F.normalize(self.head(torch.cat([h.mean((2, 3)), h.amax((2, 3))], 1)).float(), dim=-1)
eye = Eye(16 if TINY else 192).to(dev).to(memory_format=torch.channels_last); words = nn.Sequential(nn.Linear(TEXT_DIM, 768), nn.GELU(), nn.Linear(768, 256)).to(dev); scale = nn.Parameter(torch.tensor(2.7, device=dev))
def told(p): return F.normalize(words(p.float() * 19.6).float(), dim=-1)
drawings = json.load(open(WORK + '/drawings.json')); secret = np.array([zlib.crc32(r['id'].encode()) % 40 == 0 for r in drawings]); I = np.load(WORK + '/specs.npz')['I']
hidden = ((I >= 0) & secret[np.maximum(I, 0)]).any(1); use = torch.from_numpy(np.nonzero(~hidden)[0]).to(dev)
alone = {}
for k in np.nonzero(hidden & (I[:, 1] < 0))[0]: alone.setdefault(caps[k], int(k))
test = torch.tensor(list(alone.values())[:500], device=dev, dtype=torch.long)
params = [*eye.parameters(), *words.parameters(), scale]; opt = torch.optim.AdamW(params, lr=1e-3, betas=(.9, .98), weight_decay=.05, fused=not TINY); BS = 32 if TINY else 2048; step = 0; start = time.time()
while True:
    fr = (time.time() - start) / A.seconds
    if fr >= 1: break
    for g in opt.param_groups: g['lr'] = 1e-3 * min(1, (step + 1) / 100) * (1 - fr)
    i = use[torch.randint(len(use), (BS,), device=dev)]; z = lat[i].float(); z = z + torch.randn_like(z) * .15 * torch.rand(BS, 1, 1, 1, device=dev); p = pooled[i]
    with torch.autocast(dev, torch.bfloat16): a = eye(z.contiguous(memory_format=torch.channels_last))
    b = told(p); logits = scale.clamp(max=4.6).exp() * a @ b.T
    logits = logits.masked_fill((p @ p.T > .995) & ~torch.eye(BS, dtype=torch.bool, device=dev), -1e4)      # equal captions do not count as errors
    k = torch.arange(BS, device=dev); loss = (F.cross_entropy(logits, k) + F.cross_entropy(logits.T, k)) / 2
    opt.zero_grad(set_to_none=True); loss.backward(); torch.nn.utils.clip_grad_norm_(params, 1.0); opt.step(); step += 1
    if step % (5 if TINY else 100) == 0: log(f'retrieval step {step} loss {loss.item():.3f}')
eye.eval()
@torch.no_grad()
def ranks(z, p, among):
    """The number of captions in `among` that match each latent better than its own, which is at the same index."""
    with torch.autocast(dev, torch.bfloat16): a = torch.cat([eye(x.float().contiguous(memory_format=torch.channels_last)) for x in z.split(512)])
    sim = a @ told(among).T; own = (a * told(p)).sum(1); same = p @ among.T > .995
    return ((sim > own[:, None] + 1e-4) & ~same).sum(1), own
def found(r, own): return dict(top1=(r < 1).float().mean().item(), top5=(r < 5).float().mean().item(), median_rank=r.float().median().item() + 1, similarity=own.mean().item(), pictures=len(r))
P = cond[2]; result = {'real drawings never seen by this network': found(*ranks(lat[test], pooled[test], pooled[test])), 'real held-out recipes': found(*ranks(real, P[n:], P[n:]))}
for name in dict.fromkeys(k[0] for k in drawn):
    for steps in (20, 8):
        r = [ranks(drawn[name, steps, s], P, P) for s in SEEDS]; r, own = torch.cat([x[0] for x in r]), torch.cat([x[1] for x in r]); q = torch.arange(len(r), device=dev) % len(P) < n
        result[f'{name}, {steps} steps, prompts'], result[f'{name}, {steps} steps, held-out captions'] = found(r[q], own[q]), found(r[~q], own[~q])
keep(retrieval=result, retrieval_steps=step, captions=len(P), guidance=GUIDANCE, seeds=SEEDS)
print(f'\nretrieval among {len(P)} captions (chance: top-1 {1/len(P):.3f}), network trained {step} steps')
for k, v in result.items(): print(f'{k:48s} top-1 {v["top1"]:.3f}  top-5 {v["top5"]:.3f}  median rank {v["median_rank"]:5.0f}  similarity {v["similarity"]:.3f}  ({v["pictures"]} pictures)')
print('\ndistance to the nearest training picture (0: the same)')
for k, v in copies.items():
    if isinstance(v, dict): print(f'{k:48s} ' + '  '.join(f'{a} {b:.3f}' for a, b in v.items()))
log('score done')
