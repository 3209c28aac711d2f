//! Tests with real files: a tone of 1.5 s in every format, complete, truncated, and with false
//! headers.

use std::time::Duration;

use proptest::prelude::*;

use super::*;

/// Each sample with its container.
const SAMPLES: [(&str, &[u8], AudioContainer); 17] = [
    ("tone.wav", include_bytes!("../samples/tone.wav"), AudioContainer::Wav),
    ("mulaw.wav", include_bytes!("../samples/mulaw.wav"), AudioContainer::Wav),
    ("streamed.wav", include_bytes!("../samples/streamed.wav"), AudioContainer::Wav),
    ("tone.flac", include_bytes!("../samples/tone.flac"), AudioContainer::Flac),
    ("streamed.flac", include_bytes!("../samples/streamed.flac"), AudioContainer::Flac),
    ("tone.mp3", include_bytes!("../samples/tone.mp3"), AudioContainer::Mp3),
    ("tagged.mp3", include_bytes!("../samples/tagged.mp3"), AudioContainer::Mp3),
    ("tone.aac", include_bytes!("../samples/tone.aac"), AudioContainer::Aac),
    ("tone.m4a", include_bytes!("../samples/tone.m4a"), AudioContainer::M4a),
    ("tone.mp4", include_bytes!("../samples/tone.mp4"), AudioContainer::Mp4),
    ("fragmented.mp4", include_bytes!("../samples/fragmented.mp4"), AudioContainer::Mp4),
    ("tone.opus.ogg", include_bytes!("../samples/tone.opus.ogg"), AudioContainer::Ogg),
    ("tone.vorbis.ogg", include_bytes!("../samples/tone.vorbis.ogg"), AudioContainer::Ogg),
    ("tone.flac.ogg", include_bytes!("../samples/tone.flac.ogg"), AudioContainer::Ogg),
    ("tone.speex.ogg", include_bytes!("../samples/tone.speex.ogg"), AudioContainer::Ogg),
    ("tone.webm", include_bytes!("../samples/tone.webm"), AudioContainer::Webm),
    ("live.webm", include_bytes!("../samples/live.webm"), AudioContainer::Webm),
];

fn sample(name: &str) -> Vec<u8> {
    let found = SAMPLES.iter().find(|(known, ..)| *known == name);
    found.expect("the sample exists").1.to_vec()
}

fn length_ms(file: &[u8]) -> u128 {
    inspect_recording(file).expect("the file can be measured").length.as_millis()
}

#[test]
fn every_format_is_recognised_and_measured() {
    for (name, file, container) in SAMPLES {
        let recording = inspect_recording(file).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(recording.container, container, "{name}");
        // Encoders add up to two frames of silence, and the last block of a WebM is not counted.
        let length = recording.length.as_millis();
        assert!((1450..=1610).contains(&length), "{name} lasts {length} ms");
    }
}

#[test]
fn plain_samples_are_measured_exactly() {
    for name in ["tone.wav", "mulaw.wav", "streamed.wav", "tone.flac", "streamed.flac"] {
        assert_eq!(length_ms(&sample(name)), 1500, "{name}");
    }
}

#[test]
fn a_header_that_says_less_than_there_is_is_not_believed() {
    let mut flac = sample("tone.flac");
    flac[22..26].fill(0);
    assert_eq!(length_ms(&flac), 1500, "the frames are numbered");

    let mut wav = sample("tone.wav");
    wav[28..32].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(length_ms(&wav), 1500, "a decoder goes by the size of a sample");

    let mut opus = sample("tone.opus.ogg");
    let pages: Vec<usize> = (0..opus.len()).filter(|at| opus[*at..].starts_with(b"OggS")).collect();
    for page in pages {
        opus[page + 6..page + 14].fill(0);
    }
    assert!(1450 < length_ms(&opus), "packets say how long they are");

    let mut mp4 = sample("tone.m4a");
    for (kind, duration_at) in [(b"mdhd", 20), (b"stts", 16)] {
        let at = mp4.windows(4).position(|it| it == kind).expect("the box exists") + duration_at;
        mp4[at..at + 4].fill(0);
    }
    assert!(1450 < length_ms(&mp4), "a sample of AAC lasts as long as any other");
}

#[test]
fn what_is_no_recording_is_told_apart() {
    let check = |file: &[u8], expected: RecordingReadError| {
        assert_eq!(inspect_recording(file), Err(expected))
    };
    check(b"", RecordingReadError::Empty);
    check(b"plain text, however long it may be, is no sound", RecordingReadError::UnknownFormat);
    check(&[0; 4096], RecordingReadError::UnknownFormat);
    check(&[0xff; 4096], RecordingReadError::UnknownFormat);
    check(b"%PDF-1.7\n", RecordingReadError::UnknownFormat);
    check(b"RIFF\x10\0\0\0WAVE", RecordingReadError::Damaged(AudioContainer::Wav));
    check(&sample("tone.wav")[..44], RecordingReadError::Damaged(AudioContainer::Wav));
    check(&sample("tone.m4a")[..200], RecordingReadError::Damaged(AudioContainer::M4a));
    check(&sample("tone.webm")[..200], RecordingReadError::Damaged(AudioContainer::Webm));
    check(&sample("tone.flac")[..30], RecordingReadError::Damaged(AudioContainer::Flac));
    check(&sample("tone.opus.ogg")[..60], RecordingReadError::Damaged(AudioContainer::Ogg));
    let mut endless = sample("tone.flac");
    endless[21] |= 0x0f;
    check(&endless, RecordingReadError::TooLong(AudioContainer::Flac));
}

#[test]
fn a_file_that_is_cut_in_half_lasts_half_as_long() {
    for name in ["tone.wav", "tone.mp3", "tone.aac", "tone.opus.ogg", "live.webm"] {
        let file = sample(name);
        let half = length_ms(&file[..file.len() / 2]);
        assert!((500..=1000).contains(&half), "half of {name} lasts {half} ms");
    }
}

#[test]
fn a_wav_that_was_streamed_gets_its_sizes() {
    let mut file = sample("streamed.wav");
    let whole = file.clone();
    file[4..8].fill(0xff);
    let data = file.windows(4).position(|it| it == b"data").expect("there is data");
    for open in [[0xff; 4], [0; 4]] {
        file[data + 4..data + 8].copy_from_slice(&open);
        complete_wav(&mut file);
        let size = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().expect("4 bytes"));
        assert_eq!(usize::try_from(size(4)), Ok(file.len() - 8));
        assert_eq!(usize::try_from(size(data + 4)), Ok(file.len() - data - 8));
    }
    let mut right = sample("tone.wav");
    complete_wav(&mut right);
    assert_eq!(right, sample("tone.wav"), "a file that knows its size stays as it is");
    for mut other in [whole[..20].to_vec(), sample("tone.mp3"), Vec::new()] {
        let before = other.clone();
        complete_wav(&mut other);
        assert_eq!(other, before);
    }
}

proptest! {
    #[test]
    fn no_damage_is_a_panic_or_an_endless_recording(
        index in 0..SAMPLES.len(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..24),
        cut in any::<prop::sample::Index>(),
        is_cut in any::<bool>(),
    ) {
        let mut file = SAMPLES[index].1.to_vec();
        for (at, byte) in damage {
            // Most of the damage goes to headers, where it matters.
            let at = at.index(file.len());
            let at = if byte % 4 == 0 { at } else { at % 256 };
            file[at] = byte;
        }
        if is_cut {
            file.truncate(cut.index(file.len()));
        }
        if let Ok(recording) = inspect_recording(&file) {
            prop_assert!(Duration::ZERO < recording.length && recording.length <= LENGTH_MAX);
        }
        complete_wav(&mut file);
    }

    #[test]
    fn no_bytes_at_all_are_a_panic(
        start in prop::sample::select(vec![
            &b"RIFF\xff\xff\xff\xffWAVE"[..], b"fLaC", b"ID3\x04\0\0", b"\xff\xfb", b"\xff\xf1",
            b"\0\0\0\x18ftypM4A ", b"OggS\0", b"\x1a\x45\xdf\xa3", b"",
        ]),
        rest in prop::collection::vec(any::<u8>(), 0..512),
    ) {
        let mut file = [start, &rest].concat();
        let _ = inspect_recording(&file);
        complete_wav(&mut file);
    }
}

#[track_caller]
fn check_begin(file: &[u8], expected: Option<(AudioContainer, usize)>) {
    let found =
        detect_container(file).map(|(container, sound)| (container, file.len() - sound.len()));
    assert_eq!(found, expected);
}

#[test]
fn a_tag_before_the_sound_is_skipped() {
    let tagged = [b"ID3\x04\0\0\0\0\x01\x02".as_slice(), &[7; 130], b"fLaC"].concat();
    check_begin(&tagged, Some((AudioContainer::Flac, 140)));
}

#[test]
fn a_tag_that_claims_more_than_the_file_is_no_sound() {
    check_begin(b"ID3\x04\0\0\x7f\x7f\x7f\x7fRIFF", None);
}

#[test]
fn text_pictures_and_nothing_are_no_sound() {
    check_begin(b"", None);
    check_begin(b"{\"error\":\"not a sound\"}", None);
    check_begin(b"RIFF\0\0\0\0WEBPVP8 ", None);
    check_begin(b"\xff\xd8\xff\xe0\0\x10JFIF", None);
    check_begin(b"\x89PNG\r\n\x1a\n", None);
    check_begin(b"%PDF-1.7", None);
}
