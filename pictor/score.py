"""Compares generators on the same prompts, seeds and steps, from int8 files in the released format.

usage: score.py CARRY WORK OUT NAME=dit.int8.safetensors... [--seconds 70] [--tiny]

CARRY and WORK are the folders of train_dit.py.
Writes OUT/sheet-NAME.jpg (the 48 prompts: 20 steps; 8 steps; 20 steps with ", flat illustration" if the prompt names no style),
OUT/copies.jpg (pictures most similar to a training picture, each above that picture) and OUT/score.json.

Retrieval needs no external model: a small contrastive network is trained here on the training latents to match latents with
MiniLM caption vectors. One drawing in forty is held out; the accuracy on those is reported too. Each generated latent is then
matched against all requested captions.
"""

import argparse
import json
import re
import time
import zlib
from typing import NamedTuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from captions import read_prompts
from model import TEXT_DIM, Decoder, DiT, ResidualBlock, RMSNorm2d, TextEncoder, time_schedule, tokenize
from sample import load_weights
from tokenizers import Tokenizer

parser = argparse.ArgumentParser()
parser.add_argument("carry")
parser.add_argument("work")
parser.add_argument("out")
parser.add_argument("models", nargs="+")
parser.add_argument("--seconds", type=float, default=70)
parser.add_argument("--tiny", action="store_true")
OPTIONS = parser.parse_args()
CARRY, WORK, OUT, TINY = OPTIONS.carry, OPTIONS.work, OPTIONS.out, OPTIONS.tiny
DEVICE = "cpu" if TINY else "cuda"
STARTED = time.time()
STYLE_PATTERN = re.compile(
    r"line art|3d|emoji|silhouette|pixel|sticker|illustration|drawing|avatar|portrait|icon", re.I
)
GUIDANCE = 4.0
SEEDS = (0,) if TINY else (0, 1)
STEP_COUNTS = (20, 8)
RUN_STEPS = {20: 2, 8: 1} if TINY else {20: 20, 8: 8}  # steps in the results -> steps that are made
SAMPLED_PICTURES = 280  # in one batch
DECODED_PICTURES = 64  # in one batch
SHEET_SIDE, COPIES_SIDE, COLUMNS = 192, 128, 8
NEAREST_CHUNK = 16384  # training latents compared at once
HELD_OUT_DIVISOR = 40  # one drawing in this many is held out of the retrieval network's training
TESTED_DRAWINGS_MAX = 500
RETRIEVAL_BATCH = 32 if TINY else 2048
RETRIEVAL_WIDTH = 256
EMBEDDED_LATENTS = 512  # in one batch
POOLED_SCALE = 19.6  # about sqrt(384): gives the elements of a unit vector unit variance
SAME_CAPTION_SIMILARITY = 0.995

report = {}


def log(*values):
    """Prints with the seconds since the start."""
    print(f"[{time.time() - STARTED:6.0f}s]", *values, flush=True)


def write_report(**results):
    """Adds results to the report and writes it."""
    report.update(results)
    with open(OUT + "/score.json", "w") as file:
        json.dump(report, file, indent=1)


def read_json(name):
    """Reads a JSON file in WORK."""
    with open(f"{WORK}/{name}") as file:
        return json.load(file)


def load_array(name):
    """Reads an array in WORK to the device."""
    return torch.from_numpy(np.load(f"{WORK}/{name}")).to(DEVICE)


class EncodedText(NamedTuple):
    """Captions as the generator reads them."""

    states: torch.Tensor  # [captions, 32, 384]
    mask: torch.Tensor  # [captions, 32]
    pooled: torch.Tensor  # [captions, 384]


@torch.no_grad()
def encode_text(text_encoder, tokenizer, captions):
    """Encodes captions."""
    token_ids, mask = tokenize(tokenizer, captions)
    token_ids, mask = token_ids.to(DEVICE), mask.to(DEVICE)
    states, pooled = text_encoder(token_ids, mask)
    return EncodedText(states, mask, pooled)


# ---- pictures


def is_distilled(generator):
    """True if a generator has the guidance as an input, so that a step is one pass."""
    return hasattr(generator, "w1")


def load_generator(path):
    """Reads a generator; its dimensions follow from the weights."""
    weights = load_weights(path)
    width = weights["inp.weight"].shape[0]
    generator = DiT(
        width=width,
        depth=sum(name.endswith(".proj.weight") for name in weights),
        heads=width // 64 if width > 64 else 4,
        distilled="w1.weight" in weights,
    )
    generator = generator.eval().to(DEVICE)
    generator.load_state_dict(weights)
    return generator


def guided_velocity(generator, latents, times, states, mask, pooled):
    """Returns the velocity at GUIDANCE, in one pass or two."""
    if is_distilled(generator):
        return generator(latents, times, states, mask, pooled, torch.full_like(times, GUIDANCE))
    prompted, unprompted = generator(
        torch.cat([latents, latents]),
        torch.cat([times, times]),
        torch.cat([states, states]),
        torch.cat([mask, torch.zeros_like(mask)]),
        torch.cat([pooled, pooled]),
    ).chunk(2)
    return unprompted + GUIDANCE * (prompted - unprompted)


@torch.no_grad()
def sample_latents(generator, text, steps, seed):
    """Returns latents [captions, 4, 32, 32]."""
    parts = []
    noise = torch.randn(len(text.states), 4, 32, 32, generator=torch.Generator().manual_seed(seed))
    times = time_schedule(steps)
    for start in range(0, len(noise), SAMPLED_PICTURES):
        rows = slice(start, start + SAMPLED_PICTURES)
        text_rows = [tensor[rows] for tensor in text]
        latents = noise[rows].to(DEVICE)
        for step in range(steps):
            step_times = torch.full((len(latents),), times[step].item(), device=DEVICE)
            velocity = guided_velocity(generator, latents, step_times, *text_rows)
            latents = latents + (times[step + 1] - times[step]).item() * velocity
        parts.append(latents)
    return torch.cat(parts)


@torch.no_grad()
def decode_pictures(decoder, latents, side=SHEET_SIDE):
    """Returns pictures [count, 3, side, side] in -1..1."""
    return torch.cat(
        [
            F.interpolate(decoder(part.float()).clamp(-1, 1), (side, side), mode="area")
            for part in latents.split(DECODED_PICTURES)
        ]
    )


def make_grid(pictures):
    """Returns pictures in rows of COLUMNS as an array of pixels."""
    count, _, height, width = pictures.shape
    pictures = torch.cat([pictures, pictures.new_ones(-count % COLUMNS, 3, height, width)])
    pixels = ((pictures + 1) * 127.5).round().byte().view(-1, COLUMNS, 3, height, width).permute(0, 3, 1, 4, 2)
    return pixels.reshape(-1, COLUMNS * width, 3).cpu().numpy()


def save_jpeg(grids, path):
    """Writes grids below each other."""
    from PIL import Image

    Image.fromarray(np.concatenate(grids)).save(path, quality=86)


def draw_all(decoder, text, styled_text, prompt_count):
    """Samples with every generator; returns (name, steps, seed) -> latents and writes the sheets."""
    drawn = {}
    for argument in OPTIONS.models:
        name, path = argument.split("=", 1)
        generator = load_generator(path)
        for steps in STEP_COUNTS:
            for seed in SEEDS:
                drawn[name, steps, seed] = sample_latents(generator, text, RUN_STEPS[steps], seed)
        gap = np.full((24, COLUMNS * SHEET_SIDE, 3), 255, np.uint8)
        many, few = (make_grid(decode_pictures(decoder, drawn[name, steps, 0][:prompt_count])) for steps in STEP_COUNTS)
        styled = make_grid(decode_pictures(decoder, sample_latents(generator, styled_text, RUN_STEPS[20], 0)))
        save_jpeg([many, gap, few, gap, styled], f"{OUT}/sheet-{name}.jpg")
        log("drawn", name, "one pass a step" if is_distilled(generator) else "two passes a step")
    return drawn


# ---- copies: distance to the nearest training latent (both minus the mean), relative to the picture's own norm


def find_nearest(latents, training_latents, mean):
    """Returns the relative distance to the nearest training latent, and its row, for each latent."""
    latents = (latents - mean).flatten(1)
    nearest_distances = torch.full((len(latents),), 1e9, device=DEVICE)
    nearest_rows = torch.zeros(len(latents), dtype=torch.long, device=DEVICE)
    for start in range(0, len(training_latents), NEAREST_CHUNK):
        others = (training_latents[start : start + NEAREST_CHUNK].float() - mean).flatten(1)
        squares = (latents * latents).sum(1)[:, None] + (others * others).sum(1) - 2 * latents @ others.T
        distances, rows = squares.clamp_min(0).sqrt().min(1)
        is_nearer = distances < nearest_distances
        nearest_distances = torch.where(is_nearer, distances, nearest_distances)
        nearest_rows = torch.where(is_nearer, rows + start, nearest_rows)
    return nearest_distances / latents.norm(dim=1), nearest_rows


def summarise_distances(distances):
    """Returns quantiles, and the shares below three limits."""
    return dict(
        q05=distances.quantile(0.05).item(),
        q25=distances.quantile(0.25).item(),
        q50=distances.median().item(),
        **{f"under {limit}": (distances < limit).float().mean().item() for limit in (0.15, 0.3, 0.45)},
    )


def measure_copies(decoder, drawn, real_latents, training_latents, captions, training_captions, prompt_count):
    """Returns the distances to training latents, by name, and writes the nearest pictures beside their neighbours."""
    mean = training_latents[:: max(1, len(training_latents) // 50000)].float().mean(0)
    copies = {
        "real held-out recipes": summarise_distances(find_nearest(real_latents, training_latents, mean)[0]),
    }
    grids = []
    for name in dict.fromkeys(key[0] for key in drawn):
        latents = drawn[name, 20, 0]
        distances, rows = find_nearest(latents, training_latents, mean)
        copies[name + ", prompts"] = summarise_distances(distances[:prompt_count])
        copies[name + ", held-out captions"] = summarise_distances(distances[prompt_count:])
        closest = distances.argsort()[: 2 if TINY else 8]
        for pictures in (latents[closest], training_latents[rows[closest]]):
            grids.append(make_grid(decode_pictures(decoder, pictures, COPIES_SIDE)))
        copies[name + ", closest"] = [
            (round(distances[index].item(), 3), captions[index], training_captions[rows[index]])
            for index in closest.tolist()
        ]
    save_jpeg(grids, OUT + "/copies.jpg")
    return copies


# ---- the retrieval network


class LatentEmbedder(nn.Module):
    """Convolutional network that maps latents [batch, 4, 32, 32] to unit vectors."""

    def __init__(self, width=192, embedding_width=RETRIEVAL_WIDTH):
        super().__init__()
        self.body = nn.Sequential(
            nn.PixelUnshuffle(2),
            nn.Conv2d(16, width, 3, padding=1),
            ResidualBlock(width),
            ResidualBlock(width),
            nn.Conv2d(width, 2 * width, 3, stride=2, padding=1),
            ResidualBlock(2 * width),
            ResidualBlock(2 * width),
            RMSNorm2d(2 * width),
            nn.SiLU(),
            nn.Conv2d(2 * width, 2 * width, 1),
            nn.SiLU(),
        )
        self.head = nn.Linear(4 * width, embedding_width)

    def forward(self, latents):
        """latents [batch, 4, 32, 32] -> unit vectors [batch, embedding_width]."""
        features = self.body(latents)
        pooled = torch.cat([features.mean((2, 3)), features.amax((2, 3))], 1)
        return F.normalize(self.head(pooled).float(), dim=-1)


class RetrievalNetwork:
    """Matches latents with captions by the cosine of their embeddings."""

    def __init__(self):
        self.latent_embedder = LatentEmbedder(16 if TINY else 192).to(DEVICE).to(memory_format=torch.channels_last)
        self.caption_embedder = nn.Sequential(nn.Linear(TEXT_DIM, 768), nn.GELU(), nn.Linear(768, RETRIEVAL_WIDTH)).to(
            DEVICE
        )
        self.log_scale = nn.Parameter(torch.tensor(2.7, device=DEVICE))

    def embed_latents(self, latents):
        """Embeds latents in bfloat16."""
        with torch.autocast(DEVICE, torch.bfloat16):
            return self.latent_embedder(latents.contiguous(memory_format=torch.channels_last))

    def embed_captions(self, pooled):
        """Embeds pooled text vectors."""
        return F.normalize(self.caption_embedder(pooled.float() * POOLED_SCALE).float(), dim=-1)

    def train(self, latents, pooled, rows):
        """Trains for --seconds on these rows; returns the number of steps."""
        parameters = [*self.latent_embedder.parameters(), *self.caption_embedder.parameters(), self.log_scale]
        optimiser = torch.optim.AdamW(parameters, lr=1e-3, betas=(0.9, 0.98), weight_decay=0.05, fused=not TINY)
        step = 0
        started = time.time()
        while True:
            progress = (time.time() - started) / OPTIONS.seconds
            if progress >= 1:
                break
            for group in optimiser.param_groups:
                group["lr"] = 1e-3 * min(1, (step + 1) / 100) * (1 - progress)
            batch_rows = rows[torch.randint(len(rows), (RETRIEVAL_BATCH,), device=DEVICE)]
            loss = self.contrastive_loss(latents[batch_rows].float(), pooled[batch_rows])
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
            optimiser.step()
            step += 1
            if step % (5 if TINY else 100) == 0:
                log(f"retrieval step {step} loss {loss.item():.3f}")
        self.latent_embedder.eval()
        return step

    def contrastive_loss(self, latents, pooled):
        """Cross entropy of matching noised latents and captions, in both directions."""
        latents = latents + torch.randn_like(latents) * 0.15 * torch.rand(RETRIEVAL_BATCH, 1, 1, 1, device=DEVICE)
        embedded_latents = self.embed_latents(latents)
        embedded_captions = self.embed_captions(pooled)
        logits = self.log_scale.clamp(max=4.6).exp() * embedded_latents @ embedded_captions.T
        is_same_caption = pooled @ pooled.T > SAME_CAPTION_SIMILARITY
        is_own = torch.eye(RETRIEVAL_BATCH, dtype=torch.bool, device=DEVICE)
        logits = logits.masked_fill(is_same_caption & ~is_own, -1e4)  # equal captions do not count as errors
        own = torch.arange(RETRIEVAL_BATCH, device=DEVICE)
        return (F.cross_entropy(logits, own) + F.cross_entropy(logits.T, own)) / 2

    @torch.no_grad()
    def rank(self, latents, pooled, candidates):
        """Returns the number of captions in `candidates` that match each latent better than its own, and the similarity to its own.

        `pooled` has the latents' own captions, at the same index.
        """
        embedded = torch.cat([self.embed_latents(part.float()) for part in latents.split(EMBEDDED_LATENTS)])
        similarities = embedded @ self.embed_captions(candidates).T
        own_similarities = (embedded * self.embed_captions(pooled)).sum(1)
        is_same_caption = pooled @ candidates.T > SAME_CAPTION_SIMILARITY
        is_better = (similarities > own_similarities[:, None] + 1e-4) & ~is_same_caption
        return is_better.sum(1), own_similarities


def split_recipes(training_captions):
    """Returns the rows for the retrieval network's training, and rows of single held-out drawings with distinct captions."""
    is_held_out = np.array(
        [zlib.crc32(drawing["id"].encode()) % HELD_OUT_DIVISOR == 0 for drawing in read_json("drawings.json")]
    )
    drawings = np.load(WORK + "/specs.npz")["I"]
    has_held_out = ((drawings >= 0) & is_held_out[np.maximum(drawings, 0)]).any(1)
    training_rows = torch.from_numpy(np.nonzero(~has_held_out)[0]).to(DEVICE)
    row_by_caption = {}
    for row in np.nonzero(has_held_out & (drawings[:, 1] < 0))[0]:
        row_by_caption.setdefault(training_captions[row], int(row))
    test_rows = torch.tensor(list(row_by_caption.values())[:TESTED_DRAWINGS_MAX], device=DEVICE, dtype=torch.long)
    return training_rows, test_rows


def summarise_ranks(ranks, own_similarities):
    """Returns the shares of first and of first five ranks, and averages."""
    return dict(
        top1=(ranks < 1).float().mean().item(),
        top5=(ranks < 5).float().mean().item(),
        median_rank=ranks.float().median().item() + 1,
        similarity=own_similarities.mean().item(),
        pictures=len(ranks),
    )


def score_retrieval(network, drawn, pooled, prompt_count):
    """Returns the retrieval of every generator's pictures, for prompts and held-out captions."""
    scores = {}
    for name in dict.fromkeys(key[0] for key in drawn):
        for steps in STEP_COUNTS:
            ranked = [network.rank(drawn[name, steps, seed], pooled, pooled) for seed in SEEDS]
            ranks, own_similarities = (torch.cat(parts) for parts in zip(*ranked, strict=True))
            is_prompt = torch.arange(len(ranks), device=DEVICE) % len(pooled) < prompt_count
            scores[f"{name}, {steps} steps, prompts"] = summarise_ranks(ranks[is_prompt], own_similarities[is_prompt])
            scores[f"{name}, {steps} steps, held-out captions"] = summarise_ranks(
                ranks[~is_prompt], own_similarities[~is_prompt]
            )
    return scores


def print_results(scores, copies, caption_count, step):
    """Prints both tables."""
    print(
        f"\nretrieval among {caption_count} captions (chance: top-1 {1 / caption_count:.3f}), network trained {step} steps"
    )
    for name, score in scores.items():
        print(
            f"{name:48s} top-1 {score['top1']:.3f}  top-5 {score['top5']:.3f}  median rank {score['median_rank']:5.0f}  similarity {score['similarity']:.3f}  ({score['pictures']} pictures)"
        )
    print("\ndistance to the nearest training picture (0: the same)")
    for name, summary in copies.items():
        if isinstance(summary, dict):
            print(f"{name:48s} " + "  ".join(f"{key} {value:.3f}" for key, value in summary.items()))


def main():
    """Draws, measures copies, trains the retrieval network and scores."""
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    text_encoder = TextEncoder.from_hugging_face(load_weights(CARRY + "/minilm_int8.safetensors")).to(DEVICE)
    tokenizer = Tokenizer.from_file(CARRY + "/tokenizer.json")
    decoder = Decoder().eval().to(DEVICE)
    decoder.load_state_dict(load_weights(CARRY + "/vae/decoder.int8.safetensors"))
    prompts, held_captions = read_prompts(), read_json("capsheld.json")
    if TINY:
        prompts, held_captions = prompts[:2], held_captions[:6]
    captions, prompt_count = prompts + held_captions, len(prompts)
    text = encode_text(text_encoder, tokenizer, captions)
    styled_prompts = [prompt if STYLE_PATTERN.search(prompt) else prompt + ", flat illustration" for prompt in prompts]
    drawn = draw_all(decoder, text, encode_text(text_encoder, tokenizer, styled_prompts), prompt_count)

    training_latents, training_pooled = load_array("lat.npy"), load_array("pooled.npy").float()
    real_latents = load_array("heldlat.npy")[: len(held_captions)].float()
    training_captions = read_json("caps.json")
    copies = measure_copies(decoder, drawn, real_latents, training_latents, captions, training_captions, prompt_count)
    write_report(copies=copies)
    log(
        "copies",
        {
            name: {key: round(value, 3) for key, value in summary.items()}
            for name, summary in copies.items()
            if isinstance(summary, dict)
        },
    )

    network = RetrievalNetwork()
    training_rows, test_rows = split_recipes(training_captions)
    step = network.train(training_latents, training_pooled, training_rows)
    test_pooled, held_pooled = training_pooled[test_rows], text.pooled[prompt_count:]
    scores = {
        "real drawings never seen by this network": summarise_ranks(
            *network.rank(training_latents[test_rows], test_pooled, test_pooled)
        ),
        "real held-out recipes": summarise_ranks(*network.rank(real_latents, held_pooled, held_pooled)),
        **score_retrieval(network, drawn, text.pooled, prompt_count),
    }
    write_report(retrieval=scores, retrieval_steps=step, captions=len(text.pooled), guidance=GUIDANCE, seeds=SEEDS)
    print_results(scores, copies, len(text.pooled), step)
    log("score done")


if __name__ == "__main__":
    main()
