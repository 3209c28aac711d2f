//! The keys of text and embedding models.

use domain::catalogue::{
    ChatField, EmbeddingSpec, ModelTier, NamedVariants, ReasoningEffort, SamplingDefaults,
    TextCapability, TextSpec, WeightQuantization,
};

use super::price;
use super::value::{COUNT, read_count, read_enum_value, read_enum_values, word_choices};
use crate::key::{ConfigKey, ConfigSection, SectionForm, ValueKind};
use crate::reader::TableReader;

pub(super) const TEXT_SECTION: ConfigSection = ConfigSection {
    name: "model of type text",
    form: SectionForm::Inner,
    doc: "Additional keys of text models.",
    keys: TEXT_KEYS,
};

pub(super) const TEXT_KEYS: &[ConfigKey] = &[
    ConfigKey::with_default(
        "tier",
        ValueKind::Choice(ModelTier::NAMES),
        "\"M\"",
        "The size class of the model, which selects its rate limits.",
    ),
    ConfigKey::required(
        "context_tokens",
        COUNT,
        "The context size in tokens, input and output together.",
    ),
    ConfigKey::optional(
        "max_completion_tokens",
        COUNT,
        "The maximum number of tokens of a response, including reasoning. Also the default if \
         callers send no limit.",
    ),
    ConfigKey::with_default(
        "capabilities",
        ValueKind::Choices(TextCapability::NAMES),
        "[]",
        "The capabilities of the model.",
    ),
    ConfigKey::with_default(
        "quantization",
        ValueKind::Choice(WeightQuantization::NAMES),
        "\"not-available\"",
        "The number format of the weights.",
    ),
    ConfigKey::with_default(
        "reasoning_efforts",
        ValueKind::Choices(ReasoningEffort::NAMES),
        "[]",
        "The reasoning efforts that callers may request. Requires the capability \
         `reasoning_effort`.",
    ),
    ConfigKey::optional(
        "default_reasoning_effort",
        ValueKind::Choice(ReasoningEffort::NAMES),
        "The reasoning effort if callers send none. Default: the first of the list.",
    ),
    ConfigKey::optional("max_images", COUNT, "The maximum number of images per request."),
    ConfigKey::optional("max_videos", COUNT, "The maximum number of videos per request."),
    ConfigKey::optional(
        "defaults",
        ValueKind::Table,
        "Sampling parameters for requests that do not set them, such as `{ temperature = \"0.7\" \
         }`. Without an entry the upstream's default applies.",
    ),
    ConfigKey::with_default(
        "drop",
        ValueKind::Choices(ChatField::NAMES),
        "[]",
        "Fields that are never sent to the upstream, for models that refuse them. Takes precedence \
         over `defaults` and over the caller, who finds them in `x-service-dropped-parameters`.",
    ),
    ConfigKey::optional(
        "default_temperature",
        TEMPERATURE,
        "Deprecated name of `defaults.temperature`.",
    ),
    ConfigKey::optional("default_top_p", SHARE, "Deprecated name of `defaults.top_p`."),
    ConfigKey::optional(
        "default_frequency_penalty",
        PENALTY,
        "Deprecated name of `defaults.frequency_penalty`.",
    ),
    ConfigKey::optional(
        "default_presence_penalty",
        PENALTY,
        "Deprecated name of `defaults.presence_penalty`.",
    ),
    ConfigKey::optional(
        "default_repetition_penalty",
        REPETITION,
        "Deprecated name of `defaults.repetition_penalty`.",
    ),
];

const TEMPERATURE: ValueKind = ValueKind::Number { least: 0.0, most: 2.0 };
const SHARE: ValueKind = ValueKind::Number { least: 0.0, most: 1.0 };
const PENALTY: ValueKind = ValueKind::Number { least: -2.0, most: 2.0 };
const REPETITION: ValueKind = ValueKind::Number { least: 0.0, most: 10.0 };

pub(super) const DEFAULTS_SECTION: ConfigSection = ConfigSection {
    name: "model.defaults",
    form: SectionForm::Inner,
    doc: "The `defaults` of a text model. Numbers may be in quotes.",
    keys: DEFAULTS_KEYS,
};

const DEFAULTS_KEYS: &[ConfigKey] = &[
    ConfigKey::optional("temperature", TEMPERATURE, "The sampling temperature."),
    ConfigKey::optional("top_p", SHARE, "The cumulative probability of the tokens to sample from."),
    ConfigKey::optional(
        "top_k",
        ValueKind::Integer { least: 0, most: u32::MAX as i64 },
        "The number of most likely tokens to sample from.",
    ),
    ConfigKey::optional(
        "min_p",
        SHARE,
        "The minimum probability, relative to the most likely token.",
    ),
    ConfigKey::optional("min_temp", TEMPERATURE, "The minimum of a dynamic temperature."),
    ConfigKey::optional("max_temp", TEMPERATURE, "The maximum of a dynamic temperature."),
    ConfigKey::optional("frequency_penalty", PENALTY, "The frequency penalty."),
    ConfigKey::optional("presence_penalty", PENALTY, "The presence penalty."),
    ConfigKey::optional("repetition_penalty", REPETITION, "The repetition penalty."),
    ConfigKey::optional(
        "seed",
        ValueKind::Integer { least: i64::MIN, most: i64::MAX },
        "The sampling seed.",
    ),
];

pub(super) const EMBEDDING_SECTION: ConfigSection = ConfigSection {
    name: "model of type embedding",
    form: SectionForm::Inner,
    doc: "Additional keys of embedding models. The price has the same format as for text models.",
    keys: EMBEDDING_KEYS,
};

pub(super) const EMBEDDING_KEYS: &[ConfigKey] = &[
    ConfigKey::required("dimensions", COUNT, "The number of dimensions of an embedding."),
    ConfigKey::with_default(
        "max_input_tokens",
        COUNT,
        "8192",
        "The maximum number of tokens per input.",
    ),
    ConfigKey::with_default(
        "custom_dimensions",
        ValueKind::Flag,
        "false",
        "True if callers may request fewer dimensions.",
    ),
];

pub(super) fn read_text_spec(reader: &TableReader<'_>) -> Option<TextSpec> {
    let tier = read_enum_value(reader, "tier");
    let context_tokens = read_count(reader, "context_tokens");
    let max_completion_tokens = read_count(reader, "max_completion_tokens");
    let capabilities: Option<Vec<TextCapability>> = read_enum_values(reader, "capabilities");
    let quantization = read_enum_value(reader, "quantization");
    let efforts = word_choices(reader, "reasoning_efforts", "default_reasoning_effort");
    let images_max = read_count(reader, "max_images");
    let videos_max = read_count(reader, "max_videos");
    let sampling = read_sampling_defaults(reader);
    let dropped_fields: Option<Vec<ChatField>> = read_enum_values(reader, "drop");
    let price = price::text_price(reader);
    if let (Some(context), Some(most)) = (context_tokens, max_completion_tokens)
        && context < most
    {
        let message = format!(
            "`max_completion_tokens` is {most}, but only {context} tokens fit in the context"
        );
        reader.report_fault("max_completion_tokens", message);
    }
    let (capabilities, efforts) = (capabilities?, efforts?);
    let takes_effort = capabilities.contains(&TextCapability::ReasoningEffort);
    if !efforts.is_empty() && !takes_effort {
        let message = "`reasoning_efforts` needs \"reasoning_effort\" among the `capabilities`";
        reader.report_fault("reasoning_efforts", message);
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

fn read_sampling_defaults(reader: &TableReader<'_>) -> SamplingDefaults {
    let table = reader.table_reader("defaults", DEFAULTS_KEYS);
    let number = |name: &str| table.as_ref().and_then(|table| table.quotable_number(name));
    let integer = |name: &str| table.as_ref().and_then(|table| table.quotable_integer(name));
    // Reads a key of the `defaults` table or its older name on the model itself.
    let either = |name: &str, older: &'static str| {
        let has_both =
            reader.has_key(older) && table.as_ref().is_some_and(|table| table.has_key(name));
        if has_both {
            let message = format!("`{older}` and `defaults.{name}` set the same; keep the latter");
            reader.report_fault(older, message);
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

pub(super) fn read_embedding_spec(reader: &TableReader<'_>) -> Option<EmbeddingSpec> {
    let dimensions = read_count(reader, "dimensions");
    let max_input_tokens = read_count(reader, "max_input_tokens");
    let custom_dimensions = reader.flag("custom_dimensions");
    let price = price::embedding_price(reader);
    Some(EmbeddingSpec {
        dimensions: dimensions?,
        max_input_tokens: max_input_tokens?,
        custom_dimensions: custom_dimensions?,
        price: price?,
    })
}
