#!/usr/bin/env python3
"""Writes crates/surface/cli/data/model-facts.tsv, which `tollgate convert` reads.

    pip download --no-deps genai-prices litellm && unzip each wheel into a folder
    scripts/model-facts.py FOLDER_OF_GENAI_PRICES FOLDER_OF_LITELLM > crates/surface/cli/data/model-facts.tsv

Prices come from genai-prices, which keeps them as decimals with dates; types, context sizes and
capabilities come from LiteLLM's map. Both are under the MIT licence.
"""

import json
import pathlib
import sys
import types
from decimal import ROUND_UP, Decimal

# LiteLLM's prefix of a provider -> the provider's id in genai-prices.
PROVIDERS = {
    "openai": "openai",
    "anthropic": "anthropic",
    "openrouter": "openrouter",
    "groq": "groq",
    "mistral": "mistral",
    "deepseek": "deepseek",
    "together_ai": "together",
    "fireworks_ai": "fireworks",
    "xai": "x-ai",
}
CAPABILITIES = [
    ("supports_function_calling", "tools"),
    ("supports_vision", "vision"),
    ("supports_reasoning", "reasoning"),
    ("supports_response_schema", "json_schema"),
    ("supports_audio_input", "audio_input"),
]
MODES = {"chat": "text", "responses": "text", "completion": "text", "embedding": "embedding"}
PRICES = ["input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok"]


def main(genai_folder, litellm_folder):
    sys.path.insert(0, genai_folder)
    # A stub: the module is only needed for updates over the network.
    sys.modules["httpx2"] = types.ModuleType("httpx2")
    for name in ["Client", "AsyncClient", "Timeout", "HTTPError", "Response"]:
        setattr(sys.modules["httpx2"], name, object)
    from genai_prices.data import providers

    priced = {provider.id: provider for provider in providers}
    facts = json.loads(
        (pathlib.Path(litellm_folder) / "litellm/model_prices_and_context_window_backup.json").read_text()
    )
    known = {}
    for name, entry in facts.items():
        prefix = entry.get("litellm_provider") if isinstance(entry, dict) else None
        if prefix in PROVIDERS and entry.get("mode"):
            known[prefix, name.removeprefix(prefix + "/")] = entry
    rows = set(known)
    for prefix, provider in PROVIDERS.items():
        for model in priced[provider].models:
            names = [model.id] + list(exact_names(model.match))
            rows.update((prefix, name) for name in names)
    print("# Prices in USD per million tokens: genai-prices 0.2.2 (MIT, Pydantic Services Inc.).")
    print("# Types, sizes and capabilities: LiteLLM 1.109.1 (MIT, Berri AI). See scripts/model-facts.py.")
    print(
        "#provider\tid\ttype\tinput\toutput\tcache_input\tcache_write\tabove\tinput\toutput"
        "\tcache_input\tcache_write\tcontext\tcompletion\tdimensions\tcapabilities"
    )
    for prefix, name in sorted(rows):
        entry = known.get((prefix, name)) or vendor_entry(known, prefix, name) or {}
        base, extended = prices_of(priced[PROVIDERS[prefix]], name)
        if not entry and not base[0]:
            continue
        if "\t" in name or name.startswith("~"):
            continue
        kind = MODES.get(entry.get("mode"), entry.get("mode")) or ""
        context = entry.get("max_input_tokens") or entry.get("max_tokens") or context_of(priced, prefix, name)
        able = [ours for theirs, ours in CAPABILITIES if entry.get(theirs)]
        cells = [prefix, name, kind, *base, *extended, context, entry.get("max_output_tokens")]
        cells += [entry.get("output_vector_size"), ",".join(able)]
        print("\t".join("" if cell is None else str(cell) for cell in cells))


def vendor_entry(known, prefix, name):
    """The vendor's entry for an OpenRouter model, whose id contains the vendor's name."""
    if prefix != "openrouter" or "/" not in name:
        return None
    vendor, model = name.split(":")[0].split("/", 1)
    vendor = {"mistralai": "mistral", "x-ai": "xai"}.get(vendor, vendor)
    return known.get((vendor, model)) or known.get((vendor, model.replace(".", "-")))


def exact_names(match):
    for clause in getattr(match, "or_", None) or [match]:
        if getattr(clause, "equals", None):
            yield clause.equals


def context_of(priced, prefix, name):
    model = priced[PROVIDERS[prefix]].find_model(name)
    return model.context_window if model else None


def prices_of(provider, name):
    """The rates below and above a context size; the size comes first in the latter."""
    none = [None] * 4
    model = provider.find_model(name)
    if model is None:
        return none, [None, *none]
    prices = model.prices
    if isinstance(prices, list):
        prices = prices[-1].prices
    values = [getattr(prices, field, None) for field in PRICES]
    tiers = [value.tiers[0] for value in values if hasattr(value, "tiers") and value.tiers]
    base = [value.base if hasattr(value, "base") else value for value in values]
    if not tiers:
        return [decimal(it) for it in base], [None, *none]
    above = min(tier.start for tier in tiers)
    # The last tier is the most expensive.
    high = [value.tiers[-1].price if hasattr(value, "tiers") and value.tiers else value for value in values]
    high = [value.base if hasattr(value, "base") else value for value in high]
    return [decimal(it) for it in base], [above, *[decimal(it) for it in high]]


def decimal(value):
    if value is None:
        return None
    # Rounded up to six decimals, the precision of prices here.
    text = format(value.quantize(Decimal("0.000001"), rounding=ROUND_UP).normalize(), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


if __name__ == "__main__":
    main(*sys.argv[1:])
