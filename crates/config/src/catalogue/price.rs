//! `price = { … }`: parses the price format of each model type into exact prices.

mod keys;

use std::collections::BTreeMap;

use domain::pricing::{
    DurationBand, ExtendedPrice, ImagePrice, ImageRates, InpaintPrice, InputImagesPrice,
    MusicPrice, QualityRates, Rate, TokenPrice, TokenRates, UpscaleRates, VideoPrice, VideoRates,
};
use money::{Per, Price};

pub(super) use keys::{
    ASR_SECTION, DURATION_SECTION, EXTENDED_SECTION, IMAGE_SECTION, INPAINT_SECTION, MUSIC_SECTION,
    QUALITY_SECTION, RATE_SECTION, TOKEN_SECTION, TTS_SECTION, VIDEO_RATES_SECTION, VIDEO_SECTION,
};

use super::value::count;
use crate::key::Section;
use crate::node::{Table, Value};
use crate::reader::Reader;

/// Parses the price of a text model. `output_usd_per_million` is required, because without it
/// responses would be free.
pub(super) fn text_price(model: &Reader<'_>) -> Option<TokenPrice> {
    token_price(model, |reader| {
        let name = "output_usd_per_million";
        if !reader.has(name) {
            let message = format!(
                "`{name}` is missing in the price of a text model: answers would be free; write \
                 \"0\" if they shall be, or `free = true` instead of a price"
            );
            reader.fault(name, message);
        }
    })
}

pub(super) fn embedding_price(model: &Reader<'_>) -> Option<TokenPrice> {
    token_price(model, |_| ())
}

fn token_price(model: &Reader<'_>, check: impl Fn(&Reader<'_>)) -> Option<TokenPrice> {
    let reader = price(model, &TOKEN_SECTION)?;
    check(&reader);
    let base = token_rates(&reader);
    let extended = reader.table("extended", EXTENDED_SECTION.keys);
    let extended = extended.and_then(|inner| {
        check(&inner);
        let above = count(&inner, "above_context_tokens");
        let rates = token_rates(&inner);
        Some(ExtendedPrice { above_context_tokens: above?, rates: rates? })
    });
    Some(TokenPrice { base: base?, extended })
}

fn token_rates(reader: &Reader<'_>) -> Option<TokenRates> {
    let input = rate(reader, "input_usd_per_million", Per::Million);
    let output = rate(reader, "output_usd_per_million", Per::Million);
    let cache_input = rate(reader, "cache_input_usd_per_million", Per::Million);
    let cache_write = rate(reader, "cache_write_usd_per_million", Per::Million);
    let cache_write_1h = rate(reader, "cache_write_1h_usd_per_million", Per::Million);
    Some(TokenRates { input: input?, output: output?, cache_input, cache_write, cache_write_1h })
}

pub(super) fn image_price(model: &Reader<'_>) -> Option<ImagePrice> {
    let reader = price(model, &IMAGE_SECTION)?;
    let flat = rate(&reader, "per_image_usd", Per::One);
    let resolutions = rates_by_name(&reader, "resolutions");
    let quality = quality_rates(&reader);
    let double = rate(&reader, "upscale_2x_usd", Per::One);
    let quadruple = rate(&reader, "upscale_4x_usd", Per::One);
    let generation = match (reader.has("per_image_usd"), reader.has("resolutions")) {
        (true, false) => ImageRates::Flat(flat?),
        (false, true) => ImageRates::ByResolution(resolutions),
        _ => {
            reader.fault("per_image_usd", "give either `per_image_usd` or `resolutions`");
            return None;
        }
    };
    let upscale = UpscaleRates { double: double?, quadruple: quadruple? };
    Some(ImagePrice { generation, quality, upscale })
}

pub(super) fn inpaint_price(model: &Reader<'_>) -> Option<InpaintPrice> {
    let reader = price(model, &INPAINT_SECTION)?;
    let edit = rate(&reader, "per_edit_usd", Per::One);
    let resolutions = rates_by_name(&reader, "resolutions");
    let quality = quality_rates(&reader);
    let included = count(&reader, "included_images");
    let additional = rate(&reader, "additional_image_usd", Per::One);
    let input_images = match (included, additional) {
        (Some(included), Some(additional)) => Some(InputImagesPrice { included, additional }),
        (None, None) => None,
        (Some(_), None) | (None, Some(_)) => {
            let message = "`included_images` and `additional_image_usd` belong together";
            reader.fault("included_images", message);
            None
        }
    };
    Some(InpaintPrice { edit: edit?, resolutions, quality, input_images })
}

fn quality_rates(reader: &Reader<'_>) -> BTreeMap<String, QualityRates> {
    let by_resolution = reader.named_tables("quality", QUALITY_SECTION.keys);
    let read = |(resolution, inner): (&str, Reader<'_>)| {
        let [low, medium, high] =
            ["low_usd", "medium_usd", "high_usd"].map(|key| rate(&inner, key, Per::One));
        let rates = QualityRates { low: low?, medium: medium?, high: high? };
        Some((resolution.to_owned(), rates))
    };
    by_resolution.into_iter().filter_map(read).collect()
}

pub(super) fn tts_price(model: &Reader<'_>) -> Option<Rate> {
    let reader = price(model, &TTS_SECTION)?;
    rate(&reader, "input_usd_per_million_characters", Per::Million)
}

pub(super) fn asr_price(model: &Reader<'_>) -> Option<Rate> {
    let reader = price(model, &ASR_SECTION)?;
    rate(&reader, "usd_per_audio_second", Per::One)
}

pub(super) fn music_price(model: &Reader<'_>) -> Option<MusicPrice> {
    let reader = price(model, &MUSIC_SECTION)?;
    let ways = MUSIC_SECTION.keys.iter().filter(|key| reader.has(key.name));
    let ways: Vec<&str> = ways.map(|key| key.name).collect();
    let [way] = ways.as_slice() else {
        let names = MUSIC_SECTION.keys.iter().map(|key| format!("`{}`", key.name));
        let names: Vec<String> = names.collect();
        model.fault("price", format!("give exactly one of {}", names.join(", ")));
        return None;
    };
    match *way {
        "per_generation_usd" => rate(&reader, way, Per::One).map(MusicPrice::PerGeneration),
        "usd_per_second" => rate(&reader, way, Per::One).map(MusicPrice::PerSecond),
        "usd_per_thousand_characters" => {
            rate(&reader, way, Per::Thousand).map(MusicPrice::PerThousandCharacters)
        }
        _ => Some(MusicPrice::ByDuration(duration_bands(&reader))),
    }
}

fn duration_bands(reader: &Reader<'_>) -> Vec<DurationBand> {
    let bands = reader.tables("durations", DURATION_SECTION.keys);
    let read = |inner: &Reader<'_>| {
        let min_s = count(inner, "min_seconds");
        let max_s = count(inner, "max_seconds");
        let rate = both(inner, Per::One);
        Some(DurationBand { min_s: min_s?, max_s: max_s?, rate: rate? })
    };
    bands.iter().filter_map(read).collect()
}

pub(super) fn video_price(model: &Reader<'_>) -> Option<VideoPrice> {
    let reader = price(model, &VIDEO_SECTION)?;
    let per_generation = rate(&reader, "per_generation_usd", Per::One);
    let per_second = video_rates(&reader);
    if per_second.is_none() && reader.has("usd_per_second_with_audio") {
        let message = "`usd_per_second_with_audio` needs `usd_per_second`";
        reader.fault("usd_per_second_with_audio", message);
    }
    let by_resolution = reader.named_tables("resolutions", VIDEO_RATES_SECTION.keys);
    let resolutions = by_resolution
        .into_iter()
        .filter_map(|(resolution, inner)| Some((resolution.to_owned(), video_rates(&inner)?)))
        .collect();
    Some(VideoPrice { per_generation, per_second, resolutions })
}

fn video_rates(reader: &Reader<'_>) -> Option<VideoRates> {
    let silent = rate(reader, "usd_per_second", Per::One);
    let with_audio = rate(reader, "usd_per_second_with_audio", Per::One);
    let silent = silent?;
    Some(VideoRates { silent, with_audio: with_audio.unwrap_or(silent) })
}

fn price<'a>(model: &Reader<'a>, section: &'static Section) -> Option<Reader<'a>> {
    model.table("price", section.keys)
}

/// Parses an amount: a decimal in quotes, or a table with one amount per currency.
fn rate(reader: &Reader<'_>, name: &str, per: Per) -> Option<Rate> {
    let node = reader.node(name)?;
    match node.value {
        Value::Table(_) => both(&reader.table(name, RATE_SECTION.keys)?, per),
        _ => reader.decimal(name, |text| Price::parse(text, per)).map(Rate::at_par),
    }
}

fn both(reader: &Reader<'_>, per: Per) -> Option<Rate> {
    let usd = reader.decimal("usd", |text| Price::parse(text, per));
    let diem = reader.decimal("diem", |text| Price::parse(text, per));
    let usd = usd?;
    let rate = Rate { usd, diem: diem.unwrap_or(usd) };
    // If a price were zero in one currency only, callers could always pay with that currency.
    if (rate.usd == Price::FREE) != (rate.diem == Price::FREE) {
        reader.fault("diem", "`diem` must be zero where `usd` is, and only there");
        return None;
    }
    Some(rate)
}

/// Parses amounts by names that the operator chooses, each in either format.
fn rates_by_name(reader: &Reader<'_>, name: &str) -> BTreeMap<String, Rate> {
    let Some(node) = reader.node(name) else { return BTreeMap::new() };
    let Value::Table(table) = &node.value else {
        reader.fault(name, format!("`{name}` must be a table of amounts"));
        return BTreeMap::new();
    };
    let mut rates = BTreeMap::new();
    for (entry, node) in table.entries() {
        let amounts = match &node.value {
            Value::Table(amounts) => amounts.clone(),
            _ => {
                let mut alone = Table::default();
                alone.insert("usd", node.clone());
                alone
            }
        };
        let place = format!("`{name}.{entry}`");
        let origin = node.origin.clone();
        let inner = Reader::new(&amounts, RATE_SECTION.keys, place, origin, reader.faults());
        if let Some(rate) = both(&inner, Per::One) {
            rates.insert(entry.to_owned(), rate);
        }
    }
    rates
}
