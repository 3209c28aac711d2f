//! Tests that every option which callers can request has a price.

use expect_test::{Expect, expect};

use super::*;
use crate::pricing::{DurationBand, MusicPrice, QualityRates, VideoPrice, VideoRates};

#[track_caller]
fn check(spec: ModelSpec, expected: Expect) {
    let faults = Catalogue::check_entries(&[model("priced", spec)]);
    let lines: Vec<String> = faults.iter().map(|it| format!("{}: {it}\n", it.key)).collect();
    expected.assert_eq(&lines.concat());
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|it| (*it).to_owned()).collect()
}

#[test]
fn every_resolution_of_an_image_model_needs_a_price_and_no_other_has_one() {
    let ModelSpec::Image(mut spec) = image("any").spec else { unreachable!() };
    spec.resolutions = ChoiceList::first_of(texts(&["1K", "2K"]));
    let rates = BTreeMap::from([("1K".to_owned(), rate("1")), ("8K".to_owned(), rate("8"))]);
    spec.price.generation = ImageRates::ByResolution(rates);
    check(
        ModelSpec::Image(spec),
        expect![[r#"
        price: `8K` has a price, but is not among the `resolutions`
        price: the resolution `2K` has no price
    "#]],
    );
}

#[test]
fn a_price_by_quality_needs_qualities_to_choose_from() {
    let ModelSpec::Image(mut spec) = image("any").spec else { unreachable!() };
    spec.resolutions = ChoiceList::first_of(texts(&["1K"]));
    let rates = QualityRates { low: rate("1"), medium: rate("2"), high: rate("3") };
    spec.price.quality = BTreeMap::from([("1K".to_owned(), rates)]);
    check(
        ModelSpec::Image(spec.clone()),
        expect![[r#"
        price: `quality` has prices, but the model has no `qualities`
    "#]],
    );
    spec.qualities = ChoiceList::first_of(vec![ImageQuality::Low]);
    check(ModelSpec::Image(spec.clone()), expect![""]);
    spec.resolutions = ChoiceList::empty();
    check(
        ModelSpec::Image(spec),
        expect![[r#"
        price: `1K` has a price, but is not among the `resolutions`
    "#]],
    );
}

fn music(duration: Option<MusicDuration>, price: MusicPrice) -> ModelSpec {
    ModelSpec::Music(MusicSpec {
        voices: ChoiceList::empty(),
        formats: ChoiceList::first_of(vec![AudioFileFormat::Mp3]),
        lyrics: LyricsSupport::Unsupported,
        force_instrumental: false,
        loops: false,
        language_code: false,
        speed: None,
        duration,
        prompt_characters_min: None,
        prompt_characters_max: None,
        price,
    })
}

fn band(min_s: u64, max_s: u64) -> DurationBand {
    DurationBand { min_s, max_s, rate: rate("0.03") }
}

#[test]
fn every_length_of_a_piece_needs_a_price() {
    let lengths = || Some(MusicDuration::OneOf(ChoiceList::first_of(vec![60, 90, 120])));
    let bands = |bands: &[DurationBand]| MusicPrice::ByDuration(bands.to_vec());
    check(music(lengths(), bands(&[band(60, 60), band(61, 120)])), expect![""]);
    check(
        music(lengths(), bands(&[band(60, 60), band(61, 90)])),
        expect![[r#"
        price: a piece of 120 seconds has no price
    "#]],
    );
    check(
        music(lengths(), bands(&[band(60, 100), band(90, 120)])),
        expect![[r#"
        price: each entry of `durations` must begin after the one before has ended
    "#]],
    );
    check(
        music(lengths(), bands(&[band(120, 60)])),
        expect![[r#"
        price: each entry of `durations` must begin after the one before has ended
        price: a piece of 60 seconds has no price
        price: a piece of 90 seconds has no price
        price: a piece of 120 seconds has no price
    "#]],
    );
    check(
        music(None, bands(&[band(60, 60)])),
        expect![[r#"
        price: prices by duration need `duration_options` or `min_duration`, `default_duration` and `max_duration`
    "#]],
    );
}

#[test]
fn a_price_per_second_needs_a_length() {
    check(
        music(None, MusicPrice::PerSecond(rate("0.01"))),
        expect![[r#"
        price: a price per second needs `duration_options` or `min_duration`, `default_duration` and `max_duration`
    "#]],
    );
    check(music(None, MusicPrice::PerGeneration(rate("0.01"))), expect![""]);
    let length = MusicDuration::Within { min_s: 1, default_s: 5, max_s: 9 };
    check(music(Some(length), MusicPrice::PerSecond(rate("0.01"))), expect![""]);
}

fn video(durations: &[&str], price: VideoPrice) -> ModelSpec {
    ModelSpec::Video(VideoSpec {
        kind: VideoKind::TextToVideo,
        aspect_ratios: Vec::new(),
        resolutions: texts(&["720p", "1080p"]),
        durations: texts(durations),
        audio: false,
        audio_configurable: false,
        prompt_characters_max: 2500,
        image_input: false,
        audio_input: false,
        per_reference_audio: false,
        video_input: false,
        reference_image: ReferenceImageLimits::default(),
        price,
    })
}

fn per_second(usd: &str) -> VideoRates {
    VideoRates { silent: rate(usd), with_audio: rate(usd) }
}

#[test]
fn a_video_needs_a_price_for_everything_it_can_be() {
    let none = VideoPrice { per_generation: None, per_second: None, resolutions: BTreeMap::new() };
    check(
        video(&["5s"], none.clone()),
        expect![[r#"
        price: a video needs a price per generation or per second
    "#]],
    );
    let whole = VideoPrice { per_generation: Some(rate("1")), ..none.clone() };
    check(video(&["5s", "1 gen", "Auto"], whole), expect![""]);
    let timed = VideoPrice { per_second: Some(per_second("0.1")), ..none.clone() };
    check(
        video(&["5s", "Auto"], timed),
        expect![[r#"
        price: the duration `Auto` needs `per_generation_usd`
    "#]],
    );
    let rates = BTreeMap::from([
        ("1080p".to_owned(), per_second("0.2")),
        ("4k".to_owned(), per_second("0.4")),
    ]);
    check(
        video(&["5s"], VideoPrice { resolutions: rates, ..none }),
        expect![[r#"
        price: `4k` has a price, but is not among the `resolutions`
        price: the resolution `720p` has no price
    "#]],
    );
}
