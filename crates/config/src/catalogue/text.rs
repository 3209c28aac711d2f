//! The keys of text and embedding models.

use domain::catalogue::{
    Capability, ChatField, EmbeddingSpec, Named, Quantization, ReasoningEffort, SamplingDefaults,
    TextSpec, Tier,
};

use super::price;
use super::value::{COUNT, count, word, word_choices, words};
use crate::key::{Form, Key, Kind, Section};
use crate::reader::Reader;

pub(super) const TEXT_SECTION: Section = Section {
    name: "model of type text",
    form: Form::Inner,
    doc: "Additional keys of text models.",
    keys: TEXT_KEYS,
};

pub(super) const TEXT_KEYS: &[Key] = &[
    Key::with_default(
        "tier",
        Kind::Choice(Tier::NAMES),
        "\"M\"",
        "The size class of the model, which selects its rate limits.",
    ),
    Key::required(
        "context_tokens",
        COUNT,
        "The context size in tokens, input and output together.",
    ),
    Key::optional(
        "max_completion_tokens",
        COUNT,
        "The maximum number of tokens of a response, including reasoning. Also the default if \
         callers send no limit.",
    ),
    Key::with_default(
        "capabilities",
        Kind::Choices(Capability::NAMES),
        "[]",
        "The capabilities of the model.",
    ),
    Key::with_default(
        "quantization",
        Kind::Choice(Quantization::NAMES),
        "\"not-available\"",
        "The number format of the weights.",
    ),
    Key::with_default(
        "reasoning_efforts",
        Kind::Choices(ReasoningEffort::NAMES),
        "[]",
        "The reasoning efforts that callers may request. Requires the capability \
         `reasoning_effort`.",
    ),
    Key::optional(
        "default_reasoning_effort",
        Kind::Choice(ReasoningEffort::NAMES),
        "The reasoning effort if callers send none. Default: the first of the list.",
    ),
    Key::optional("max_images", COUNT, "The maximum number of images per request."),
    Key::optional("max_videos", COUNT, "The maximum number of videos per request."),
    Key::optional(
        "defaults",
        Kind::Table,
        "Sampling parameters for requests that do not set them, such as `{ temperature = \"0.7\" \
         }`. Without an entry the upstream's default applies.",
    ),
    Key::with_default(
        "drop",
        Kind::Choices(ChatField::NAMES),
        "[]",
        "Fields that are never sent to the upstream, for models that refuse them. Takes precedence \
         over `defaults` and over the caller, who finds them in `x-service-dropped-parameters`.",
    ),
    Key::optional("default_temperature", TEMPERATURE, "Deprecated name of `defaults.temperature`."),
    Key::optional("default_top_p", SHARE, "Deprecated name of `defaults.top_p`."),
    Key::optional(
        "default_frequency_penalty",
        PENALTY,
        "Deprecated name of `defaults.frequency_penalty`.",
    ),
    Key::optional(
        "default_presence_penalty",
        PENALTY,
        "Deprecated name of `defaults.presence_penalty`.",
    ),
    Key::optional(
        "default_repetition_penalty",
        REPETITION,
        "Deprecated name of `defaults.repetition_penalty`.",
    ),
];

const TEMPERATURE: Kind = Kind::Number { least: 0.0, most: 2.0 };
const SHARE: Kind = Kind::Number { least: 0.0, most: 1.0 };
const PENALTY: Kind = Kind::Number { least: -2.0, most: 2.0 };
const REPETITION: Kind = Kind::Number { least: 0.0, most: 10.0 };

pub(super) const DEFAULTS_SECTION: Section = Section {
    name: "model.defaults",
    form: Form::Inner,
    doc: "The `defaults` of a text model. Numbers may be in quotes.",
    keys: DEFAULTS_KEYS,
};

const DEFAULTS_KEYS: &[Key] = &[
    Key::optional("temperature", TEMPERATURE, "The sampling temperature."),
    Key::optional("top_p", SHARE, "The cumulative probability of the tokens to sample from."),
    Key::optional(
        "top_k",
        Kind::Integer { least: 0, most: u32::MAX as i64 },
        "The number of most likely tokens to sample from.",
    ),
    Key::optional("min_p", SHARE, "The minimum probability, relative to the most likely token."),
    Key::optional("min_temp", TEMPERATURE, "The minimum of a dynamic temperature."),
    Key::optional("max_temp", TEMPERATURE, "The maximum of a dynamic temperature."),
    Key::optional("frequency_penalty", PENALTY, "The frequency penalty."),
    Key::optional("presence_penalty", PENALTY, "The presence penalty."),
    Key::optional("repetition_penalty", REPETITION, "The repetition penalty."),
    Key::optional("seed", Kind::Integer { least: i64::MIN, most: i64::MAX }, "The sampling seed."),
];

pub(super) const EMBEDDING_SECTION: Section = Section {
    name: "model of type embedding",
    form: Form::Inner,
    doc: "Additional keys of embedding models. The price has the same format as for text models.",
    keys: EMBEDDING_KEYS,
};

pub(super) const EMBEDDING_KEYS: &[Key] = &[
    Key::required("dimensions", COUNT, "The number of dimensions of an embedding."),
    Key::with_default("max_input_tokens", COUNT, "8192", "The maximum number of tokens per input."),
    Key::with_default(
        "custom_dimensions",
        Kind::Flag,
        "false",
        "True if callers may request fewer dimensions.",
    ),
];

pub(super) fn text(reader: &Reader<'_>) -> Option<TextSpec> {
    let tier = word(reader, "tier");
    let context_tokens = count(reader, "context_tokens");
    let max_completion_tokens = count(reader, "max_completion_tokens");
    let capabilities: Option<Vec<Capability>> = words(reader, "capabilities");
    let quantization = word(reader, "quantization");
    let efforts = word_choices(reader, "reasoning_efforts", "default_reasoning_effort");
    let images_max = count(reader, "max_images");
    let videos_max = count(reader, "max_videos");
    let sampling = sampling(reader);
    let dropped_fields: Option<Vec<ChatField>> = words(reader, "drop");
    let price = price::text_price(reader);
    if let (Some(context), Some(most)) = (context_tokens, max_completion_tokens)
        && context < most
    {
        let message = format!(
            "`max_completion_tokens` is {most}, but only {context} tokens fit in the context"
        );
        reader.fault("max_completion_tokens", message);
    }
    let (capabilities, efforts) = (capabilities?, efforts?);
    let takes_effort = capabilities.contains(&Capability::ReasoningEffort);
    if !efforts.is_empty() && !takes_effort {
        let message = "`reasoning_efforts` needs \"reasoning_effort\" among the `capabilities`";
        reader.fault("reasoning_efforts", message);
    }
    Some(TextSpec {
        tier: tier?,
        context_tokens: context_tokens?,
        max_completion_tokens,
        capabilities: capabilities.into_iter().collect(),
        quantization: quantization?,
        reasoning_efforts: efforts,
        images_max,
        videos_max,
        sampling: Box::new(sampling),
        dropped_fields: dropped_fields?.into_iter().collect(),
        price: price?,
    })
}

fn sampling(reader: &Reader<'_>) -> SamplingDefaults {
    let table = reader.table("defaults", DEFAULTS_KEYS);
    let number = |name: &str| table.as_ref().and_then(|table| table.quotable_number(name));
    let integer = |name: &str| table.as_ref().and_then(|table| table.quotable_integer(name));
    // Reads a key of the `defaults` table or its older name on the model itself.
    let either = |name: &str, older: &'static str| {
        let has_both = reader.has(older) && table.as_ref().is_some_and(|table| table.has(name));
        if has_both {
            let message = format!("`{older}` and `defaults.{name}` set the same; keep the latter");
            reader.fault(older, message);
        }
        number(name).or(reader.number(older))
    };
    SamplingDefaults {
        temperature: either("temperature", "default_temperature"),
        top_p: either("top_p", "default_top_p"),
        top_k: integer("top_k").and_then(|it| u32::try_from(it).ok()),
        min_p: number("min_p"),
        min_temp: number("min_temp"),
        max_temp: number("max_temp"),
        frequency_penalty: either("frequency_penalty", "default_frequency_penalty"),
        presence_penalty: either("presence_penalty", "default_presence_penalty"),
        repetition_penalty: either("repetition_penalty", "default_repetition_penalty"),
        seed: integer("seed"),
    }
}

pub(super) fn embedding(reader: &Reader<'_>) -> Option<EmbeddingSpec> {
    let dimensions = count(reader, "dimensions");
    let max_input_tokens = count(reader, "max_input_tokens");
    let custom_dimensions = reader.flag("custom_dimensions");
    let price = price::embedding_price(reader);
    Some(EmbeddingSpec {
        dimensions: dimensions?,
        max_input_tokens: max_input_tokens?,
        custom_dimensions: custom_dimensions?,
        price: price?,
    })
}
