//! `price = { … }`: parses the price format of each model type into exact prices.

mod keys;

use std::collections::BTreeMap;

use domain::pricing::{
    DurationBand, ExtendedPrice, ImagePrice, ImageRates, InpaintPrice, InputImagesPrice,
    MusicPrice, QualityRates, RerankPrice, TokenPrice, TokenRates, UnitRate, UpscaleRates,
    VideoPrice, VideoRates,
};
use money::{Price, PriceUnits};

pub(super) use keys::{
    ASR_SECTION, DURATION_SECTION, EXTENDED_SECTION, IMAGE_SECTION, INPAINT_SECTION,
    MODERATION_SECTION, MUSIC_SECTION, QUALITY_SECTION, RATE_SECTION, RERANK_SECTION,
    TOKEN_SECTION, TTS_SECTION, VIDEO_RATES_SECTION, VIDEO_SECTION,
};

use super::value::read_count;
use crate::key::ConfigSection;
use crate::node::{ConfigTable, ConfigValue};
use crate::reader::TableReader;

/// Parses the price of a text model. `output_usd_per_million` is required, because without it
/// responses would be free.
pub(super) fn text_price(model: &TableReader<'_>) -> Option<TokenPrice> {
    token_price(model, |reader| {
        let name = "output_usd_per_million";
        if !reader.has_key(name) {
            let message = format!(
                "`{name}` is missing in the price of a text model: answers would be free; write \
                 \"0\" if they shall be, or `free = true` instead of a price"
            );
            reader.report_fault(name, message);
        }
    })
}

pub(super) fn embedding_price(model: &TableReader<'_>) -> Option<TokenPrice> {
    token_price(model, |_| ())
}

fn token_price(model: &TableReader<'_>, check: impl Fn(&TableReader<'_>)) -> Option<TokenPrice> {
    let reader = read_price_table(model, &TOKEN_SECTION)?;
    check(&reader);
    let base = token_rates(&reader);
    let extended = reader.table_reader("extended", EXTENDED_SECTION.keys);
    let extended = extended.and_then(|inner| {
        check(&inner);
        let above = read_count(&inner, "above_context_tokens");
        let rates = token_rates(&inner);
        Some(ExtendedPrice { above_context_tokens: above?, rates: rates? })
    });
    Some(TokenPrice { base: base?, extended })
}

fn token_rates(reader: &TableReader<'_>) -> Option<TokenRates> {
    let input = read_rate(reader, "input_usd_per_million", PriceUnits::Million);
    let output = read_rate(reader, "output_usd_per_million", PriceUnits::Million);
    let cache_input = read_rate(reader, "cache_input_usd_per_million", PriceUnits::Million);
    let cache_write = read_rate(reader, "cache_write_usd_per_million", PriceUnits::Million);
    let cache_write_1h = read_rate(reader, "cache_write_1h_usd_per_million", PriceUnits::Million);
    Some(TokenRates { input: input?, output: output?, cache_input, cache_write, cache_write_1h })
}

pub(super) fn image_price(model: &TableReader<'_>) -> Option<ImagePrice> {
    let reader = read_price_table(model, &IMAGE_SECTION)?;
    let flat = read_rate(&reader, "per_image_usd", PriceUnits::One);
    let resolutions = rates_by_name(&reader, "resolutions");
    let quality = quality_rates(&reader);
    let double = read_rate(&reader, "upscale_2x_usd", PriceUnits::One);
    let quadruple = read_rate(&reader, "upscale_4x_usd", PriceUnits::One);
    let generation = match (reader.has_key("per_image_usd"), reader.has_key("resolutions")) {
        (true, false) => ImageRates::Flat(flat?),
        (false, true) => ImageRates::ByResolution(resolutions),
        _ => {
            reader.report_fault("per_image_usd", "give either `per_image_usd` or `resolutions`");
            return None;
        }
    };
    let upscale = UpscaleRates { double: double?, quadruple: quadruple? };
    Some(ImagePrice { generation, quality, upscale })
}

pub(super) fn inpaint_price(model: &TableReader<'_>) -> Option<InpaintPrice> {
    let reader = read_price_table(model, &INPAINT_SECTION)?;
    let edit = read_rate(&reader, "per_edit_usd", PriceUnits::One);
    let resolutions = rates_by_name(&reader, "resolutions");
    let quality = quality_rates(&reader);
    let included = read_count(&reader, "included_images");
    let additional = read_rate(&reader, "additional_image_usd", PriceUnits::One);
    let input_images = match (included, additional) {
        (Some(included), Some(additional)) => Some(InputImagesPrice { included, additional }),
        (None, None) => None,
        (Some(_), None) | (None, Some(_)) => {
            let message = "`included_images` and `additional_image_usd` belong together";
            reader.report_fault("included_images", message);
            None
        }
    };
    Some(InpaintPrice { edit: edit?, resolutions, quality, input_images })
}

fn quality_rates(reader: &TableReader<'_>) -> BTreeMap<String, QualityRates> {
    let by_resolution = reader.named_tables("quality", QUALITY_SECTION.keys);
    let read = |(resolution, inner): (&str, TableReader<'_>)| {
        let [low, medium, high] = ["low_usd", "medium_usd", "high_usd"]
            .map(|key| read_rate(&inner, key, PriceUnits::One));
        let rates = QualityRates { low: low?, medium: medium?, high: high? };
        Some((resolution.to_owned(), rates))
    };
    by_resolution.into_iter().filter_map(read).collect()
}

pub(super) fn tts_price(model: &TableReader<'_>) -> Option<UnitRate> {
    let reader = read_price_table(model, &TTS_SECTION)?;
    read_rate(&reader, "input_usd_per_million_characters", PriceUnits::Million)
}

pub(super) fn asr_price(model: &TableReader<'_>) -> Option<UnitRate> {
    let reader = read_price_table(model, &ASR_SECTION)?;
    read_rate(&reader, "usd_per_audio_second", PriceUnits::One)
}

pub(super) fn rerank_price(model: &TableReader<'_>) -> Option<RerankPrice> {
    let reader = read_price_table(model, &RERANK_SECTION)?;
    let input = read_rate(&reader, "input_usd_per_million", PriceUnits::Million);
    let document = read_rate(&reader, "per_thousand_documents_usd", PriceUnits::Thousand);
    let has_price = RERANK_SECTION.keys.iter().any(|key| reader.has_key(key.name));
    if !has_price {
        let message = "give `input_usd_per_million` or `per_thousand_documents_usd`, or both";
        reader.report_fault("input_usd_per_million", message);
        return None;
    }
    Some(RerankPrice { input: input?, document: document? })
}

pub(super) fn moderation_price(model: &TableReader<'_>) -> Option<UnitRate> {
    let reader = read_price_table(model, &MODERATION_SECTION)?;
    read_rate(&reader, "input_usd_per_million", PriceUnits::Million)
}

pub(super) fn music_price(model: &TableReader<'_>) -> Option<MusicPrice> {
    let reader = read_price_table(model, &MUSIC_SECTION)?;
    let ways = MUSIC_SECTION.keys.iter().filter(|key| reader.has_key(key.name));
    let ways: Vec<&str> = ways.map(|key| key.name).collect();
    let [way] = ways.as_slice() else {
        let names = MUSIC_SECTION.keys.iter().map(|key| format!("`{}`", key.name));
        let names: Vec<String> = names.collect();
        model.report_fault("price", format!("give exactly one of {}", names.join(", ")));
        return None;
    };
    match *way {
        "per_generation_usd" => {
            read_rate(&reader, way, PriceUnits::One).map(MusicPrice::PerGeneration)
        }
        "usd_per_second" => read_rate(&reader, way, PriceUnits::One).map(MusicPrice::PerSecond),
        "usd_per_thousand_characters" => {
            read_rate(&reader, way, PriceUnits::Thousand).map(MusicPrice::PerThousandCharacters)
        }
        _ => Some(MusicPrice::ByDuration(duration_bands(&reader))),
    }
}

fn duration_bands(reader: &TableReader<'_>) -> Vec<DurationBand> {
    let bands = reader.table_readers("durations", DURATION_SECTION.keys);
    let read = |inner: &TableReader<'_>| {
        let min_s = read_count(inner, "min_seconds");
        let max_s = read_count(inner, "max_seconds");
        let rate = read_currency_rates(inner, PriceUnits::One);
        Some(DurationBand { min_s: min_s?, max_s: max_s?, rate: rate? })
    };
    bands.iter().filter_map(read).collect()
}

pub(super) fn video_price(model: &TableReader<'_>) -> Option<VideoPrice> {
    let reader = read_price_table(model, &VIDEO_SECTION)?;
    let per_generation = read_rate(&reader, "per_generation_usd", PriceUnits::One);
    let per_second = video_rates(&reader);
    if per_second.is_none() && reader.has_key("usd_per_second_with_audio") {
        let message = "`usd_per_second_with_audio` needs `usd_per_second`";
        reader.report_fault("usd_per_second_with_audio", message);
    }
    let by_resolution = reader.named_tables("resolutions", VIDEO_RATES_SECTION.keys);
    let resolutions = by_resolution
        .into_iter()
        .filter_map(|(resolution, inner)| Some((resolution.to_owned(), video_rates(&inner)?)))
        .collect();
    Some(VideoPrice { per_generation, per_second, resolutions })
}

fn video_rates(reader: &TableReader<'_>) -> Option<VideoRates> {
    let silent = read_rate(reader, "usd_per_second", PriceUnits::One);
    let with_audio = read_rate(reader, "usd_per_second_with_audio", PriceUnits::One);
    let silent = silent?;
    Some(VideoRates { silent, with_audio: with_audio.unwrap_or(silent) })
}

fn read_price_table<'a>(
    model: &TableReader<'a>,
    section: &'static ConfigSection,
) -> Option<TableReader<'a>> {
    model.table_reader("price", section.keys)
}

/// Parses an amount: a decimal in quotes, or a table with one amount per currency.
fn read_rate(reader: &TableReader<'_>, name: &str, per: PriceUnits) -> Option<UnitRate> {
    let node = reader.node_or_default(name)?;
    match node.value {
        ConfigValue::Table(_) => {
            read_currency_rates(&reader.table_reader(name, RATE_SECTION.keys)?, per)
        }
        _ => reader.decimal(name, |text| Price::parse(text, per)).map(UnitRate::at_par),
    }
}

fn read_currency_rates(reader: &TableReader<'_>, per: PriceUnits) -> Option<UnitRate> {
    let usd = reader.decimal("usd", |text| Price::parse(text, per));
    let diem = reader.decimal("diem", |text| Price::parse(text, per));
    let usd = usd?;
    let rate = UnitRate { usd, diem: diem.unwrap_or(usd) };
    // If a price were zero in one currency only, callers could always pay with that currency.
    if (rate.usd == Price::FREE) != (rate.diem == Price::FREE) {
        reader.report_fault("diem", "`diem` must be zero where `usd` is, and only there");
        return None;
    }
    Some(rate)
}

/// Parses amounts by names that the operator chooses, each in either format.
fn rates_by_name(reader: &TableReader<'_>, name: &str) -> BTreeMap<String, UnitRate> {
    let Some(node) = reader.node_or_default(name) else { return BTreeMap::new() };
    let ConfigValue::Table(table) = &node.value else {
        reader.report_fault(name, format!("`{name}` must be a table of amounts"));
        return BTreeMap::new();
    };
    let mut rates = BTreeMap::new();
    for (entry, node) in table.entries() {
        let amounts = match &node.value {
            ConfigValue::Table(amounts) => amounts.clone(),
            _ => {
                let mut alone = ConfigTable::default();
                alone.insert("usd", node.clone());
                alone
            }
        };
        let place = format!("`{name}.{entry}`");
        let origin = node.origin.clone();
        let inner = TableReader::new(&amounts, RATE_SECTION.keys, place, origin, reader.faults());
        if let Some(rate) = read_currency_rates(&inner, PriceUnits::One) {
            rates.insert(entry.to_owned(), rate);
        }
    }
    rates
}
