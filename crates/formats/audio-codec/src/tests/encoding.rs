//! Encoded audio, incremental or whole, decodes to the same signal.

use super::{WAV, decode, level, likeness};
use crate::{AudioEncoder, EncodeError, EncoderFormat, encode_file};

const RATE: u32 = 24_000;

#[test]
fn each_format_survives_the_way_there_and_back() {
    let original = decode(WAV, RATE).unwrap();
    for format in EncoderFormat::ALL.into_iter().filter(|it| *it != EncoderFormat::Pcm) {
        let sound = decode(&encode_file(format, RATE, &original).unwrap(), RATE).unwrap();
        let likeness = likeness(&original, &sound);
        assert!(0.9 < likeness, "{format:?}: likeness {likeness}");
        let loudness = level(&sound) / level(&original);
        assert!((0.9..1.1).contains(&loudness), "{format:?}: {loudness} times as loud");
        let surplus = sound.len() as i64 - original.len() as i64;
        assert!((0..4_000).contains(&surplus), "{format:?}: {surplus} samples more");
    }
}

#[test]
fn wav_and_opus_keep_the_length_and_flac_fills_a_short_last_block() {
    for samples in [1_usize, 63, 479, 480, 481, 4_095, 4_096, 4_097, 30_000] {
        let original = vec![0.25; samples];
        for format in [EncoderFormat::Wav, EncoderFormat::Opus] {
            let sound = decode(&encode_file(format, RATE, &original).unwrap(), RATE).unwrap();
            assert_eq!(sound.len(), samples, "{format:?}");
        }
        let flac =
            decode(&encode_file(EncoderFormat::Flac, RATE, &original).unwrap(), RATE).unwrap();
        let last_block = samples % 4_096;
        let filled =
            if last_block == 0 { samples } else { samples - last_block + last_block.max(64) };
        assert_eq!(flac.len(), filled, "flac");
    }
}

#[test]
fn pieces_of_any_size_give_the_same_sound_as_the_whole() {
    let original = decode(WAV, RATE).unwrap();
    for format in EncoderFormat::ALL {
        let mut file = Vec::new();
        let mut encoder = AudioEncoder::new(format, RATE).unwrap();
        for piece in original.chunks(777) {
            file.extend(encoder.push(piece).unwrap());
        }
        file.extend(encoder.finish().unwrap());
        let whole = encode_file(format, RATE, &original).unwrap();
        if format == EncoderFormat::Pcm {
            assert_eq!(file, whole);
            continue;
        }
        let (pieces, whole) = (decode(&file, RATE).unwrap(), decode(&whole, RATE).unwrap());
        assert_eq!(pieces.len(), whole.len(), "{format:?}");
        let worst = pieces.iter().zip(&whole).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(worst < 1e-4, "{format:?}: off by {worst}");
    }
}

#[test]
fn bytes_come_while_the_sound_is_still_being_made() {
    let original = decode(WAV, RATE).unwrap();
    for format in EncoderFormat::ALL {
        let mut encoder = AudioEncoder::new(format, RATE).unwrap();
        let early: usize =
            original.chunks(2_400).take(4).map(|it| encoder.push(it).unwrap().len()).sum();
        assert!(1_000 < early, "{format:?}: {early} bytes for 400 ms");
    }
}

#[test]
fn pcm_is_sixteen_bits_little_end_first_and_clipped() {
    let bytes =
        encode_file(EncoderFormat::Pcm, RATE, &[0.0, 1.0, -1.0, 7.0, f32::NAN, 0.5]).unwrap();
    assert_eq!(bytes, [0, 0, 0xff, 0x7f, 0x01, 0x80, 0xff, 0x7f, 0, 0, 0, 0x40]);
}

#[test]
fn no_samples_and_wild_samples_are_still_a_file() {
    for format in EncoderFormat::ALL {
        encode_file(format, RATE, &[]).unwrap();
        encode_file(format, RATE, &[f32::NAN, f32::INFINITY, -9.0, 1e30]).unwrap();
    }
}

#[test]
fn rates_that_a_format_cannot_hold_are_refused() {
    for format in [EncoderFormat::Mp3, EncoderFormat::Opus, EncoderFormat::Aac, EncoderFormat::Flac]
    {
        let refused = AudioEncoder::new(format, 123_456).err();
        let expected = EncodeError::SampleRate { format: format.name(), sample_rate: 123_456 };
        assert_eq!(refused, Some(expected));
    }
}

#[test]
fn names_lead_to_formats_and_back() {
    for format in EncoderFormat::ALL {
        assert_eq!(EncoderFormat::parse(format.name()), Some(format));
    }
    assert_eq!(EncoderFormat::parse("MP3"), None);
}

#[test]
fn an_encoder_can_move_between_threads() {
    fn check<T: Send>() {}
    check::<AudioEncoder>();
}
