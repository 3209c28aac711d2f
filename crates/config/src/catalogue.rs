//! `[[model]]`: parses the catalogue entries, each by the keys of its model type.

pub mod abilities;
mod audio;
mod entry;
mod free_price;
mod hour_cache;
mod image;
mod price;
mod text;
mod value;
mod video;

use domain::catalogue::{Catalogue, Model, ModelSpec, ModelType, Named};

pub(crate) use hour_cache::fill_hour_cache_prices;

use crate::fault::{Faults, Invalid};
use crate::key::{Form, Key, Section};
use crate::node::{self, Node, Table, Value};
use crate::origin::Origin;
use crate::reader::Reader;
use crate::sources::finished;

/// Sections of a model and its inner tables, for the reference and the commented template.
pub const SECTIONS: &[&Section] = &[
    &SECTION,
    &entry::ROUTE_SECTION,
    &entry::DEPRECATION_SECTION,
    &text::TEXT_SECTION,
    &text::DEFAULTS_SECTION,
    &price::TOKEN_SECTION,
    &price::EXTENDED_SECTION,
    &text::EMBEDDING_SECTION,
    &image::IMAGE_SECTION,
    &price::IMAGE_SECTION,
    &price::QUALITY_SECTION,
    &image::INPAINT_SECTION,
    &price::INPAINT_SECTION,
    &audio::TTS_SECTION,
    &audio::CLONING_SECTION,
    &price::TTS_SECTION,
    &price::ASR_SECTION,
    &audio::MUSIC_SECTION,
    &price::MUSIC_SECTION,
    &price::DURATION_SECTION,
    &video::SECTION,
    &price::VIDEO_SECTION,
    &price::VIDEO_RATES_SECTION,
    &price::RATE_SECTION,
];

pub const SECTION: Section = Section {
    name: "model",
    form: Form::Many,
    doc: "A catalogue entry. Entries can be put into included files. Each model type has \
          additional keys and its own price format.",
    keys: entry::KEYS,
};

/// Parses every `[[model]]` of the configuration.
///
/// `providers` are the provider ids that models may name. Faults of single entries and of the whole
/// catalogue, such as duplicate ids, are added to `faults` with their lines.
pub fn read(table: &Table, providers: &[&str], faults: &Faults) -> Vec<Model> {
    let Some(node) = table.get("model") else { return Vec::new() };
    let Value::List(items) = &node.value else {
        faults.push(&node.origin, "`model` must be a list, written [[model]]");
        return Vec::new();
    };
    let mut models = Vec::new();
    let mut origins = Vec::new();
    for item in items {
        if let Some(model) = read_item(item, providers, faults) {
            models.push(model);
            origins.push(item);
        }
    }
    // If an entry could not be parsed, the check would report false faults in entries that refer to
    // it.
    if models.len() == items.len() {
        for fault in Catalogue::check(&models) {
            faults.push(&place_of(origins[fault.position], fault.key), fault.message);
        }
    }
    models
}

/// Parses compiled-in entries that all use the one provider.
pub fn parse(name: &str, text: &str, provider: &str) -> Result<Vec<Model>, Invalid> {
    let faults = Faults::default();
    let table = node::parse(name, text, &faults);
    let models = read(&table, &[provider], &faults);
    finished(Some(models), faults)
}

fn read_item(item: &Node, providers: &[&str], faults: &Faults) -> Option<Model> {
    let Value::Table(table) = &item.value else {
        let found = item.value.described();
        faults.push(&item.origin, format!("[[model]] must be a table, not {found}"));
        return None;
    };
    let place = match table.get("id") {
        Some(Node { value: Value::Text(id), .. }) => format!("[[model]] \"{id}\""),
        _ => "[[model]]".to_owned(),
    };
    let model_type = type_of(table, &place, &item.origin, faults)?;
    let keys = keys_of(model_type);
    let place = format!("{place} of type {model_type}");
    let free = free_price::filled_in(table, model_type, faults);
    let table = free.as_ref().unwrap_or(table);
    let reader = Reader::new(table, keys, place, item.origin.clone(), faults);
    let spec = spec(&reader, model_type);
    entry::read(&reader, spec, providers)
}

/// Parses `type` on its own, because the type decides which other keys are valid.
fn type_of(table: &Table, place: &str, origin: &Origin, faults: &Faults) -> Option<ModelType> {
    let mut only_type = Table::default();
    if let Some(node) = table.get("type") {
        only_type.insert("type", node.clone());
    }
    let reader = Reader::new(&only_type, entry::KEYS, place, origin.clone(), faults);
    reader.choice("type").and_then(ModelType::parse)
}

fn spec(reader: &Reader<'_>, model_type: ModelType) -> Option<ModelSpec> {
    match model_type {
        ModelType::Asr => audio::asr(reader).map(ModelSpec::Asr),
        ModelType::Embedding => text::embedding(reader).map(ModelSpec::Embedding),
        ModelType::Image => image::image(reader).map(ModelSpec::Image),
        ModelType::Music => audio::music(reader).map(ModelSpec::Music),
        ModelType::Text => text::text(reader).map(ModelSpec::Text),
        ModelType::Tts => audio::tts(reader).map(ModelSpec::Tts),
        ModelType::Upscale => image::upscale(reader).map(ModelSpec::Upscale),
        ModelType::Inpaint => image::inpaint(reader).map(ModelSpec::Inpaint),
        ModelType::Video => video::video(reader).map(ModelSpec::Video),
    }
}

fn keys_of(model_type: ModelType) -> &'static [Key] {
    const TEXT: &[Key] = &with_common::<{ sum(text::TEXT_KEYS) }>(text::TEXT_KEYS);
    const EMBEDDING: &[Key] = &with_common::<{ sum(text::EMBEDDING_KEYS) }>(text::EMBEDDING_KEYS);
    const IMAGE: &[Key] = &with_common::<{ sum(image::IMAGE_KEYS) }>(image::IMAGE_KEYS);
    const INPAINT: &[Key] = &with_common::<{ sum(image::INPAINT_KEYS) }>(image::INPAINT_KEYS);
    const TTS: &[Key] = &with_common::<{ sum(audio::TTS_KEYS) }>(audio::TTS_KEYS);
    const MUSIC: &[Key] = &with_common::<{ sum(audio::MUSIC_KEYS) }>(audio::MUSIC_KEYS);
    const VIDEO: &[Key] = &with_common::<{ sum(video::KEYS) }>(video::KEYS);
    match model_type {
        ModelType::Text => TEXT,
        ModelType::Embedding => EMBEDDING,
        ModelType::Image => IMAGE,
        ModelType::Inpaint => INPAINT,
        ModelType::Tts => TTS,
        ModelType::Music => MUSIC,
        ModelType::Video => VIDEO,
        ModelType::Asr | ModelType::Upscale => entry::KEYS,
    }
}

const fn sum(keys: &[Key]) -> usize {
    entry::KEYS.len() + keys.len()
}

/// Returns the keys common to all models, followed by the given ones.
const fn with_common<const COUNT: usize>(keys: &[Key]) -> [Key; COUNT] {
    let mut joined = [entry::KEYS[0]; COUNT];
    let mut index = 0;
    while index < COUNT {
        joined[index] = if index < entry::KEYS.len() {
            entry::KEYS[index]
        } else {
            keys[index - entry::KEYS.len()]
        };
        index += 1;
    }
    joined
}

/// Returns the origin of a key of an entry, or of the entry itself if the key is absent.
fn place_of(item: &Node, key: &str) -> Origin {
    let Value::Table(table) = &item.value else { return item.origin.clone() };
    table.get(key).map_or_else(|| item.origin.clone(), |node| node.origin.clone())
}

#[cfg(test)]
mod tests;
