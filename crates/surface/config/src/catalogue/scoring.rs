//! Keys of rerank and moderation models.

use domain::catalogue::{ModerationSpec, RerankSpec};

use super::price;
use super::value::{COUNT, read_count};
use crate::key::{ConfigKey, ConfigSection, SectionForm, ValueKind};
use crate::reader::TableReader;

/// The maximum of the published schema.
const DOCUMENTS_MAX: i64 = 10_000;

pub(super) const RERANK_SECTION: ConfigSection = ConfigSection {
    name: "model of type rerank",
    form: SectionForm::Inner,
    doc: "Additional keys of rerank models.",
    keys: RERANK_KEYS,
};

pub(super) const RERANK_KEYS: &[ConfigKey] = &[
    ConfigKey::with_default(
        "max_input_tokens",
        COUNT,
        "8192",
        "The maximum number of tokens of the query and one document together.",
    ),
    ConfigKey::with_default(
        "max_documents",
        ValueKind::Integer { least: 1, most: DOCUMENTS_MAX },
        "1000",
        "The maximum number of documents of a request.",
    ),
];

pub(super) const MODERATION_SECTION: ConfigSection = ConfigSection {
    name: "model of type moderation",
    form: SectionForm::Inner,
    doc: "Additional keys of moderation models.",
    keys: MODERATION_KEYS,
};

pub(super) const MODERATION_KEYS: &[ConfigKey] = &[ConfigKey::with_default(
    "max_input_tokens",
    COUNT,
    "32768",
    "The maximum number of tokens of one text.",
)];

pub(super) fn read_rerank_spec(reader: &TableReader<'_>) -> Option<RerankSpec> {
    let max_input_tokens = read_count(reader, "max_input_tokens");
    let max_documents = read_count(reader, "max_documents");
    let price = price::rerank_price(reader);
    Some(RerankSpec {
        max_input_tokens: max_input_tokens?,
        max_documents: max_documents?,
        price: price?,
    })
}

pub(super) fn read_moderation_spec(reader: &TableReader<'_>) -> Option<ModerationSpec> {
    let max_input_tokens = read_count(reader, "max_input_tokens");
    let price = price::moderation_price(reader);
    Some(ModerationSpec { max_input_tokens: max_input_tokens?, price: price? })
}
