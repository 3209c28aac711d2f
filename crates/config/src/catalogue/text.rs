//! The keys of text and embedding models.

use domain::catalogue::{
    Capability, EmbeddingSpec, Named, Quantization, ReasoningEffort, SamplingDefaults, TextSpec,
    Tier,
};

use super::price;
use super::value::{COUNT, count, word, word_choices, words};
use crate::key::{Form, Key, Kind, Section};
use crate::reader::Reader;

pub(super) const TEXT_SECTION: Section = Section {
    name: "model of type text",
    form: Form::Inner,
    doc: "Further keys of text models.",
    keys: TEXT_KEYS,
};

pub(super) const TEXT_KEYS: &[Key] = &[
    Key::with_default(
        "tier",
        Kind::Choice(Tier::NAMES),
        "\"M\"",
        "How big the model is; rate limits go by it.",
    ),
    Key::required("context_tokens", COUNT, "How many tokens fit, input and output together."),
    Key::optional(
        "max_completion_tokens",
        COUNT,
        "How many tokens an answer has at most, thoughts included; also where its caller names no bound.",
    ),
    Key::with_default(
        "capabilities",
        Kind::Choices(Capability::NAMES),
        "[]",
        "What the model can do.",
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
        "How hard callers may tell it to think. Needs the capability `reasoning_effort`.",
    ),
    Key::optional(
        "default_reasoning_effort",
        Kind::Choice(ReasoningEffort::NAMES),
        "How hard it thinks when callers do not say; the first of the list unless given.",
    ),
    Key::optional("max_images", COUNT, "How many images a request may hold."),
    Key::optional("max_videos", COUNT, "How many videos a request may hold."),
    Key::with_default(
        "default_temperature",
        Kind::Number { least: 0.0, most: 2.0 },
        "1.0",
        "The temperature when callers send none.",
    ),
    Key::with_default(
        "default_top_p",
        Kind::Number { least: 0.0, most: 1.0 },
        "1.0",
        "The top_p when callers send none.",
    ),
    Key::optional(
        "default_frequency_penalty",
        Kind::Number { least: -2.0, most: 2.0 },
        "The frequency penalty when callers send none.",
    ),
    Key::optional(
        "default_presence_penalty",
        Kind::Number { least: -2.0, most: 2.0 },
        "The presence penalty when callers send none.",
    ),
    Key::optional(
        "default_repetition_penalty",
        Kind::Number { least: 0.0, most: 10.0 },
        "The repetition penalty when callers send none.",
    ),
];

pub(super) const EMBEDDING_SECTION: Section = Section {
    name: "model of type embedding",
    form: Form::Inner,
    doc: "Further keys of embedding models. The price has the shape of a text model's.",
    keys: EMBEDDING_KEYS,
};

pub(super) const EMBEDDING_KEYS: &[Key] = &[
    Key::required("dimensions", COUNT, "How many numbers an embedding has."),
    Key::with_default("max_input_tokens", COUNT, "8192", "How many tokens one input has at most."),
    Key::with_default(
        "custom_dimensions",
        Kind::Flag,
        "false",
        "Whether callers may ask for fewer dimensions.",
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
        sampling: sampling?,
        price: price?,
    })
}

fn sampling(reader: &Reader<'_>) -> Option<SamplingDefaults> {
    let temperature = reader.number("default_temperature");
    let top_p = reader.number("default_top_p");
    let frequency_penalty = reader.number("default_frequency_penalty");
    let presence_penalty = reader.number("default_presence_penalty");
    let repetition_penalty = reader.number("default_repetition_penalty");
    Some(SamplingDefaults {
        temperature: temperature?,
        top_p: top_p?,
        frequency_penalty,
        presence_penalty,
        repetition_penalty,
    })
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
