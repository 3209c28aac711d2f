//! The MP4 container (ISO 14496-12 and -15): boxes of one video track, with the index first.

/// One encoded frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EncodedSample {
    pub(crate) bytes: usize,
    /// True for a key frame, which decodes without previous frames.
    pub(crate) is_whole: bool,
}

/// The data of the index.
pub(crate) struct VideoTrack<'a> {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) frames_per_second: u32,
    pub(crate) sequence_parameters: &'a [u8],
    pub(crate) picture_parameters: &'a [u8],
    pub(crate) samples: &'a [EncodedSample],
}

/// Time units per second; divisible by all common frame rates up to 60.
const TIMESCALE: u32 = 12_000;
/// Version 0 without flags.
const PLAIN: u32 = 0;
const TRACK: u32 = 1;
/// Identity matrix in fixed-point numbers.
const UNTURNED: [u32; 9] = [0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000];
const NO_LANGUAGE: u16 = 0x55c4;
/// BT.709 for primaries, transfer and matrix.
const BT_709: u16 = 1;

/// Builds a complete file. `data` is the concatenated samples.
pub(crate) fn build_file(track: &VideoTrack<'_>, data: &[u8]) -> Vec<u8> {
    let kind = build_box(b"ftyp", |it| {
        it.extend(b"isom");
        it.write_number(512_u32);
        it.extend(b"isomiso2avc1mp41");
    });
    // The length of the index does not depend on the data's offset.
    let index = |data_at: u32| build_index(track, data_at);
    let head_bytes = kind.len() + index(0).len() + 8;
    let mut file = kind;
    file.extend(index(size_to_u32(head_bytes)));
    file.extend(size_to_u32(data.len() + 8).to_be_bytes());
    file.extend(b"mdat");
    file.extend(data);
    file
}

/// Videos are limited to far less than 4 GiB.
fn size_to_u32(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

fn build_index(track: &VideoTrack<'_>, data_at: u32) -> Vec<u8> {
    let duration = size_to_u32(track.samples.len()) * frame_duration(track);
    build_box(b"moov", |it| {
        it.add_box(b"mvhd", |it| {
            it.write_number(PLAIN);
            it.write_zeros(8);
            it.write_number(TIMESCALE);
            it.write_number(duration);
            it.write_number(0x1_0000_u32);
            it.write_number(0x0100_u16);
            it.write_zeros(10);
            UNTURNED.into_iter().for_each(|number| it.write_number(number));
            it.write_zeros(24);
            it.write_number(TRACK + 1);
        });
        it.add_box(b"trak", |it| {
            track_head(it, track, duration);
            write_media_box(it, track, duration, data_at);
        });
    })
}

fn frame_duration(track: &VideoTrack<'_>) -> u32 {
    TIMESCALE / track.frames_per_second
}

fn track_head(parent: &mut Vec<u8>, track: &VideoTrack<'_>, duration: u32) {
    const ENABLED_AND_SHOWN: u32 = 3;
    parent.add_box(b"tkhd", |it| {
        it.write_number(ENABLED_AND_SHOWN);
        it.write_zeros(8);
        it.write_number(TRACK);
        it.write_zeros(4);
        it.write_number(duration);
        it.write_zeros(16);
        UNTURNED.into_iter().for_each(|number| it.write_number(number));
        it.write_number(size_to_u32(track.width) << 16);
        it.write_number(size_to_u32(track.height) << 16);
    });
}

fn write_media_box(parent: &mut Vec<u8>, track: &VideoTrack<'_>, duration: u32, data_at: u32) {
    parent.add_box(b"mdia", |it| {
        it.add_box(b"mdhd", |it| {
            it.write_number(PLAIN);
            it.write_zeros(8);
            it.write_number(TIMESCALE);
            it.write_number(duration);
            it.write_number(NO_LANGUAGE);
            it.write_zeros(2);
        });
        it.add_box(b"hdlr", |it| {
            it.write_number(PLAIN);
            it.write_zeros(4);
            it.extend(b"vide");
            it.write_zeros(12);
            it.extend(b"video\0");
        });
        it.add_box(b"minf", |it| {
            it.add_box(b"vmhd", |it| {
                it.write_number(1_u32);
                it.write_zeros(8);
            });
            it.add_box(b"dinf", |it| {
                it.add_box(b"dref", |it| {
                    it.write_number(PLAIN);
                    it.write_number(1_u32);
                    // The data is in this file.
                    it.add_box(b"url ", |it| it.write_number(1_u32));
                });
            });
            it.add_box(b"stbl", |it| sample_table(it, track, data_at));
        });
    });
}

fn sample_table(table: &mut Vec<u8>, track: &VideoTrack<'_>, data_at: u32) {
    let count = size_to_u32(track.samples.len());
    table.add_box(b"stsd", |it| {
        it.write_number(PLAIN);
        it.write_number(1_u32);
        write_sample_entry(it, track);
    });
    table.add_box(b"stts", |it| write_numbers(it, &[1, count, frame_duration(track)]));
    table.add_box(b"stss", |it| {
        let numbered = (1_u32..).zip(track.samples);
        let whole: Vec<u32> = numbered.filter(|(_, it)| it.is_whole).map(|(at, _)| at).collect();
        write_numbers(it, &[size_to_u32(whole.len())]);
        whole.into_iter().for_each(|at| it.write_number(at));
    });
    // All samples are in one chunk.
    table.add_box(b"stsc", |it| write_numbers(it, &[1, 1, count, 1]));
    table.add_box(b"stsz", |it| {
        write_numbers(it, &[0, count]);
        track.samples.iter().for_each(|sample| it.write_number(size_to_u32(sample.bytes)));
    });
    table.add_box(b"stco", |it| write_numbers(it, &[1, data_at]));
}

fn write_numbers(target: &mut Vec<u8>, numbers: &[u32]) {
    target.write_number(PLAIN);
    numbers.iter().for_each(|number| target.write_number(*number));
}

fn write_sample_entry(parent: &mut Vec<u8>, track: &VideoTrack<'_>) {
    const DOTS_PER_INCH: u32 = 72 << 16;
    const BITS_PER_PIXEL: u16 = 24;
    let side = |pixels: usize| u16::try_from(pixels).unwrap_or(u16::MAX);
    parent.add_box(b"avc1", |it| {
        it.write_zeros(6);
        it.write_number(1_u16);
        it.write_zeros(16);
        it.write_number(side(track.width));
        it.write_number(side(track.height));
        it.write_number(DOTS_PER_INCH);
        it.write_number(DOTS_PER_INCH);
        it.write_zeros(4);
        it.write_number(1_u16);
        it.write_zeros(32);
        it.write_number(BITS_PER_PIXEL);
        it.write_number(u16::MAX);
        it.add_box(b"avcC", |it| decoder_settings(it, track));
        it.add_box(b"colr", |it| {
            it.extend(b"nclx");
            [BT_709; 3].into_iter().for_each(|it_is| it.write_number(it_is));
            it.write_zeros(1);
        });
    });
}

fn decoder_settings(parent: &mut Vec<u8>, track: &VideoTrack<'_>) {
    let sequence = track.sequence_parameters;
    // Profile, constraints and level follow the NAL header.
    let described = sequence.get(1..4).unwrap_or(&[0; 3]);
    parent.push(1);
    parent.extend(described);
    // Four-byte lengths before NAL units; then one sequence and one picture parameter set.
    parent.push(0xff);
    let length = |unit: &[u8]| u16::try_from(unit.len()).unwrap_or(u16::MAX);
    parent.push(0xe1);
    parent.write_number(length(sequence));
    parent.extend(sequence);
    parent.push(1);
    parent.write_number(length(track.picture_parameters));
    parent.extend(track.picture_parameters);
}

fn build_box(name: &[u8; 4], contents: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut whole = Vec::new();
    whole.add_box(name, contents);
    whole
}

trait BoxWriter {
    /// Adds a child box.
    fn add_box(&mut self, name: &[u8; 4], contents: impl FnOnce(&mut Vec<u8>));
    fn write_number<N: BigEndian>(&mut self, number: N);
    fn write_zeros(&mut self, count: usize);
}

impl BoxWriter for Vec<u8> {
    fn add_box(&mut self, name: &[u8; 4], contents: impl FnOnce(&mut Vec<u8>)) {
        let begin = self.len();
        self.write_zeros(4);
        self.extend(name);
        contents(self);
        let length = size_to_u32(self.len() - begin).to_be_bytes();
        self[begin..begin + 4].copy_from_slice(&length);
    }

    fn write_number<N: BigEndian>(&mut self, number: N) {
        self.extend(number.into_be_bytes());
    }

    fn write_zeros(&mut self, count: usize) {
        self.resize(self.len() + count, 0);
    }
}

trait BigEndian {
    fn into_be_bytes(self) -> impl IntoIterator<Item = u8>;
}

impl BigEndian for u16 {
    fn into_be_bytes(self) -> impl IntoIterator<Item = u8> {
        self.to_be_bytes()
    }
}

impl BigEndian for u32 {
    fn into_be_bytes(self) -> impl IntoIterator<Item = u8> {
        self.to_be_bytes()
    }
}
