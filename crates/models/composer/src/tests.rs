//! Tests the length, loudness and variety of pieces.

mod measured;

use audio_codec::EncoderFormat;
use realfft::RealFftPlanner;

use crate::theory::ScaleMode;
use crate::{SAMPLE_RATE, SongPlan, StyleName, plan_song, render_file, render_samples};

fn of_style(style: StyleName) -> SongPlan {
    plan_song(style.name(), 8, 7)
}

fn loudness_db(samples: &[f32]) -> f32 {
    let power = samples.iter().map(|it| it * it).sum::<f32>() / samples.len() as f32;
    10.0 * power.log10()
}

/// Share of the energy in each band.
fn bands(samples: &[f32]) -> Vec<f32> {
    const EDGES: [f32; 9] = [0.0, 80.0, 160.0, 320.0, 640.0, 1280.0, 2560.0, 5120.0, 22_050.0];
    const SIZE: usize = 4096;
    let mono: Vec<f32> = samples.chunks(2).map(|pair| (pair[0] + pair[1]) / 2.0).collect();
    let transform = RealFftPlanner::<f32>::new().plan_fft_forward(SIZE);
    let mut sums = vec![0.0; EDGES.len() - 1];
    let mut spectrum = transform.make_output_vec();
    for window in mono.chunks_exact(SIZE) {
        let mut window = window.to_vec();
        transform.process(&mut window, &mut spectrum).unwrap();
        for (bin, value) in spectrum.iter().enumerate() {
            let hertz = bin as f32 * SAMPLE_RATE as f32 / SIZE as f32;
            let band = EDGES.windows(2).position(|it| (it[0]..it[1]).contains(&hertz));
            if let Some(band) = band {
                sums[band] += value.norm_sqr();
            }
        }
    }
    let whole: f32 = sums.iter().sum();
    sums.iter().map(|sum| sum / whole).collect()
}

#[test]
fn words_choose_the_style_the_tempo_the_key_and_the_instrument() {
    let told = plan_song("A dark house track in F# minor, 124 bpm, with bells, no drums", 30, 1);
    assert_eq!((told.style, told.bpm, told.root), (StyleName::House, 124, 6));
    assert_eq!((told.mode, told.has_drums), (ScaleMode::Minor, false));
    assert_eq!(told.lead.map(|it| it.name()), Some("bell"));
    assert_eq!(plan_song("smoky jazz", 30, 1).style, StyleName::Jazz);
    assert_eq!(plan_song("lofi beats to study to", 30, 1).style, StyleName::Lofi);
    let slow = plan_song("slow sad piano", 30, 3);
    assert_eq!((slow.style, slow.mode), (StyleName::Classical, ScaleMode::Minor));
    assert!(slow.bpm <= 97, "{}", slow.bpm);
    assert_eq!(plan_song("9999 bpm", 30, 1).bpm, 220);
}

#[test]
fn a_genre_counts_more_than_moods_and_the_last_one_named_is_meant() {
    for (prompt, style) in [
        ("calm lo-fi hip hop beat", StyleName::Lofi),
        ("calm peaceful relaxing jazz", StyleName::Jazz),
        ("Lo Fi for study", StyleName::Lofi),
        ("bossa nova at the beach", StyleName::Bossa),
        ("an epic heroic battle, 8 bit", StyleName::Chiptune),
        ("big band with a saxophone", StyleName::Jazz),
        ("jazz rock", StyleName::Rock),
        ("rock jazz", StyleName::Jazz),
        ("rock with jazz", StyleName::Rock),
        ("energetic techno for a party", StyleName::House),
        ("calm, dreamy", StyleName::Ambient),
    ] {
        for seed in 0..4 {
            assert_eq!(plan_song(prompt, 30, seed).style, style, "{prompt}");
        }
    }
}

#[test]
fn every_style_is_asked_for_by_its_name() {
    for style in StyleName::ALL {
        assert_eq!(plan_song(style.name(), 30, 5).style, style);
        assert_eq!(StyleName::parse(style.name()), Some(style));
    }
}

#[test]
fn nonsense_makes_music_too() {
    for prompt in ["", "日本", "\u{0}\u{7f}", &"x ".repeat(5000)] {
        let plan = plan_song(prompt, 5, 9);
        assert_eq!(render_samples(&plan).len(), 5 * 2 * SAMPLE_RATE as usize);
    }
}

#[test]
fn a_piece_is_as_long_as_it_should_be_and_as_loud_as_others() {
    for style in StyleName::ALL {
        let samples = render_samples(&of_style(style));
        assert_eq!(samples.len(), 8 * 2 * SAMPLE_RATE as usize);
        let loudness = loudness_db(&samples);
        assert!((-20.0..-13.0).contains(&loudness), "{}: {loudness} dB", style.name());
        let peak = samples.iter().fold(0.0_f32, |most, it| most.max(it.abs()));
        assert!(peak <= 0.95, "{}: {peak}", style.name());
        assert!(samples.iter().all(|it| it.is_finite()), "{}", style.name());
        let last = &samples[samples.len() - 200..];
        assert!(last.iter().all(|it| it.abs() < 0.02), "{} breaks off", style.name());
    }
}

#[test]
fn the_same_seed_gives_the_same_piece_and_another_gives_another() {
    let first = render_samples(&plan_song("jazz", 6, 1));
    assert!(first == render_samples(&plan_song("jazz", 6, 1)));
    assert!(first != render_samples(&plan_song("jazz", 6, 2)));
}

#[test]
fn styles_sound_different() {
    let heard: Vec<(StyleName, Vec<f32>)> =
        StyleName::ALL.into_iter().map(|it| (it, bands(&render_samples(&of_style(it))))).collect();
    for (index, (name, first)) in heard.iter().enumerate() {
        for (other, second) in &heard[index + 1..] {
            let apart: f32 = first.iter().zip(second).map(|(a, b)| (a - b).abs()).sum();
            assert!(0.08 < apart, "{} and {} are {apart} apart", name.name(), other.name());
        }
    }
}

#[test]
fn a_piece_is_written_as_each_kind_of_file() {
    let plan = plan_song("folk", 5, 1);
    assert!(render_file(&plan, EncoderFormat::Wav).unwrap().starts_with(b"RIFF"));
    assert!(render_file(&plan, EncoderFormat::Flac).unwrap().starts_with(b"fLaC"));
    let mp3 = render_file(&plan, EncoderFormat::Mp3).unwrap();
    assert_eq!(mp3[0], 0xff);
    assert!(render_file(&plan, EncoderFormat::Opus).is_err(), "only what music is asked for in");
}
