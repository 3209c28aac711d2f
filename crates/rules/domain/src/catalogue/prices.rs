//! Checks that a price covers every option that callers can request.

use std::collections::BTreeMap;

use super::{ChoiceList, ImageQuality, ModelSpec, MusicDuration, MusicSpec, VideoSpec};
use crate::pricing::{ImageRates, MusicPrice, QualityRates, UnitRate};

/// The entry's key with the error, and the message.
type PriceFinding = (&'static str, String);

/// Finds options without a price, and prices for options that do not exist.
pub(super) fn price_faults(spec: &ModelSpec) -> Vec<PriceFinding> {
    match spec {
        ModelSpec::Image(image) => {
            let mut found = quality_faults(&image.price.quality, &image.qualities);
            found.extend(find_unknown_resolutions(
                &image.price.quality,
                image.resolutions.options(),
            ));
            if let ImageRates::ByResolution(rates) = &image.price.generation {
                found.extend(coverage_faults(rates, image.resolutions.options()));
            }
            found
        }
        ModelSpec::Inpaint(inpaint) => {
            let mut found = quality_faults(&inpaint.price.quality, &inpaint.qualities);
            found.extend(find_unknown_resolutions(
                &inpaint.price.quality,
                inpaint.resolutions.options(),
            ));
            found.extend(find_unknown_resolutions(
                &inpaint.price.resolutions,
                inpaint.resolutions.options(),
            ));
            found
        }
        ModelSpec::Music(music) => music_faults(music),
        ModelSpec::Video(video) => video_faults(video),
        ModelSpec::Upscale(upscale) => match upscale.price.generation {
            ImageRates::Flat(_) => Vec::new(),
            ImageRates::ByResolution(_) => {
                vec![("price", "an upscale model has one price, not one per resolution".to_owned())]
            }
        },
        ModelSpec::Asr(_)
        | ModelSpec::Embedding(_)
        | ModelSpec::Text(_)
        | ModelSpec::Tts(_)
        | ModelSpec::Rerank(_)
        | ModelSpec::Moderation(_) => Vec::new(),
    }
}

fn quality_faults(
    rates: &BTreeMap<String, QualityRates>,
    qualities: &ChoiceList<ImageQuality>,
) -> Vec<PriceFinding> {
    let is_unused = !rates.is_empty() && qualities.is_empty();
    if is_unused {
        return vec![(
            "price",
            "`quality` has prices, but the model has no `qualities`".to_owned(),
        )];
    }
    Vec::new()
}

fn coverage_faults(
    rates: &BTreeMap<String, UnitRate>,
    resolutions: &[String],
) -> Vec<PriceFinding> {
    let mut found = find_unknown_resolutions(rates, resolutions);
    let missing = resolutions.iter().filter(|it| !rates.contains_key(*it));
    found.extend(missing.map(|it| ("price", format!("the resolution `{it}` has no price"))));
    found
}

fn find_unknown_resolutions<T>(
    rates: &BTreeMap<String, T>,
    resolutions: &[String],
) -> Vec<PriceFinding> {
    let unknown = rates.keys().filter(|it| !resolutions.contains(it));
    unknown
        .map(|it| ("price", format!("`{it}` has a price, but is not among the `resolutions`")))
        .collect()
}

fn music_faults(music: &MusicSpec) -> Vec<PriceFinding> {
    let MusicPrice::ByDuration(bands) = &music.price else {
        let needs_length = matches!(music.price, MusicPrice::PerSecond(_));
        if needs_length && music.duration.is_none() {
            let message = "a price per second needs `duration_options` or `min_duration`, \
                           `default_duration` and `max_duration`";
            return vec![("price", message.to_owned())];
        }
        return Vec::new();
    };
    let mut found = Vec::new();
    let is_inside_out = bands.iter().any(|it| it.max_s < it.min_s);
    let is_overlapping = bands.windows(2).any(|pair| pair[1].min_s <= pair[0].max_s);
    if is_inside_out || is_overlapping {
        let message = "each entry of `durations` must begin after the one before has ended";
        found.push(("price", message.to_owned()));
    }
    let lengths = match &music.duration {
        Some(MusicDuration::OneOf(options)) => options.options().to_vec(),
        Some(MusicDuration::Within { min_s, default_s, max_s }) => vec![*min_s, *default_s, *max_s],
        None => {
            let message = "prices by duration need `duration_options` or `min_duration`, \
                           `default_duration` and `max_duration`";
            found.push(("price", message.to_owned()));
            Vec::new()
        }
    };
    for length in lengths {
        let is_priced = bands.iter().any(|it| it.min_s <= length && length <= it.max_s);
        if !is_priced {
            found.push(("price", format!("a piece of {length} seconds has no price")));
        }
    }
    found
}

fn video_faults(video: &VideoSpec) -> Vec<PriceFinding> {
    let price = &video.price;
    let mut found = find_unknown_resolutions(&price.resolutions, &video.resolutions);
    let has_price_by_time = price.per_second.is_some() || !price.resolutions.is_empty();
    if price.per_generation.is_none() && !has_price_by_time {
        found.push(("price", "a video needs a price per generation or per second".to_owned()));
    }
    if price.per_second.is_none() && !price.resolutions.is_empty() {
        let missing = video.resolutions.iter().filter(|it| !price.resolutions.contains_key(*it));
        found.extend(missing.map(|it| ("price", format!("the resolution `{it}` has no price"))));
    }
    let is_timeless = |it: &&String| !it.ends_with('s');
    let timeless = video.durations.iter().find(is_timeless);
    if let (Some(duration), None) = (timeless, price.per_generation) {
        let message = format!("the duration `{duration}` needs `per_generation_usd`");
        found.push(("price", message));
    }
    found
}
