//! What kind of file some bytes are, from the bytes alone: names and declared types can lie.

/// The kinds of sound file that can be decoded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Container {
    Wav,
    Flac,
    Mp3,
    /// AAC frames one after the other, with ADTS headers.
    Aac,
    /// MP4 and its relatives: M4A, M4B, MOV, 3GP.
    Mp4,
    /// Ogg, whatever the extension: OGG, OGA, OPUS.
    Ogg,
    /// WebM and Matroska.
    Webm,
}

/// The kind of a sound file and where its sound begins, after any ID3 tags; none if unknown.
pub fn sniff(file: &[u8]) -> Option<(Container, &[u8])> {
    let sound = without_id3(file);
    Some((container(sound)?, sound))
}

fn container(sound: &[u8]) -> Option<Container> {
    let starts = |mark: &[u8]| sound.starts_with(mark);
    let has_at = |at: usize, mark: &[u8]| sound.get(at..).is_some_and(|it| it.starts_with(mark));
    if starts(b"RIFF") && has_at(8, b"WAVE") {
        return Some(Container::Wav);
    }
    if starts(b"fLaC") {
        return Some(Container::Flac);
    }
    if starts(b"OggS") {
        return Some(Container::Ogg);
    }
    if starts(&[0x1a, 0x45, 0xdf, 0xa3]) {
        return Some(Container::Webm);
    }
    if has_at(4, b"ftyp") {
        return Some(Container::Mp4);
    }
    if is_adts(sound) {
        return Some(Container::Aac);
    }
    is_mpeg_layer_3(sound).then_some(Container::Mp3)
}

/// Tags that players put before MP3, AAC and FLAC; each declares its own length.
fn without_id3(mut file: &[u8]) -> &[u8] {
    const HEADER_BYTES: usize = 10;
    const FOOTER_FLAG: u8 = 0x10;
    while file.starts_with(b"ID3") && HEADER_BYTES <= file.len() {
        // The length has seven bits in each of four bytes.
        let length = file[6..10].iter().fold(0, |sum, it| (sum << 7) | usize::from(it & 0x7f));
        let footer = if file[5] & FOOTER_FLAG == 0 { 0 } else { HEADER_BYTES };
        file = file.get(HEADER_BYTES + length + footer..).unwrap_or_default();
    }
    file
}

/// Twelve bits of sync, layer 0, and a sampling frequency that exists.
fn is_adts(sound: &[u8]) -> bool {
    let [0xff, second, third, ..] = sound else {
        return false;
    };
    let frequency_index = (third >> 2) & 0x0f;
    second & 0xf6 == 0xf0 && frequency_index < 13
}

/// Eleven bits of sync, layer III, and a version, bitrate and frequency that exist.
fn is_mpeg_layer_3(sound: &[u8]) -> bool {
    let [0xff, second, third, ..] = sound else {
        return false;
    };
    let is_version = (second >> 3) & 3 != 1;
    let is_layer_3 = (second >> 1) & 3 == 1;
    let bitrate_index = third >> 4;
    let is_frequency = (third >> 2) & 3 != 3;
    let is_synchronised = second & 0xe0 == 0xe0;
    is_synchronised
        && is_version
        && is_layer_3
        && is_frequency
        && 0 < bitrate_index
        && bitrate_index < 15
}
