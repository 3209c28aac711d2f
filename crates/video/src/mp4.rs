//! The MP4 container (ISO 14496-12 and -15): boxes of one video track, with the index first.

/// One encoded frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sample {
    pub(crate) bytes: usize,
    /// True for a key frame, which decodes without previous frames.
    pub(crate) is_whole: bool,
}

/// The data of the index.
pub(crate) struct Track<'a> {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) frames_per_second: u32,
    pub(crate) sequence_parameters: &'a [u8],
    pub(crate) picture_parameters: &'a [u8],
    pub(crate) samples: &'a [Sample],
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
pub(crate) fn file(track: &Track<'_>, data: &[u8]) -> Vec<u8> {
    let kind = boxed(b"ftyp", |it| {
        it.extend(b"isom");
        it.number(512_u32);
        it.extend(b"isomiso2avc1mp41");
    });
    // The length of the index does not depend on the data's offset.
    let index = |data_at: u32| index(track, data_at);
    let head_bytes = kind.len() + index(0).len() + 8;
    let mut file = kind;
    file.extend(index(size(head_bytes)));
    file.extend(size(data.len() + 8).to_be_bytes());
    file.extend(b"mdat");
    file.extend(data);
    file
}

/// Videos are limited to far less than 4 GiB.
fn size(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

fn index(track: &Track<'_>, data_at: u32) -> Vec<u8> {
    let duration = size(track.samples.len()) * frame_duration(track);
    boxed(b"moov", |it| {
        it.add(b"mvhd", |it| {
            it.number(PLAIN);
            it.zeros(8);
            it.number(TIMESCALE);
            it.number(duration);
            it.number(0x1_0000_u32);
            it.number(0x0100_u16);
            it.zeros(10);
            UNTURNED.into_iter().for_each(|number| it.number(number));
            it.zeros(24);
            it.number(TRACK + 1);
        });
        it.add(b"trak", |it| {
            track_head(it, track, duration);
            media(it, track, (duration, data_at));
        });
    })
}

fn frame_duration(track: &Track<'_>) -> u32 {
    TIMESCALE / track.frames_per_second
}

fn track_head(parent: &mut Vec<u8>, track: &Track<'_>, duration: u32) {
    const ENABLED_AND_SHOWN: u32 = 3;
    parent.add(b"tkhd", |it| {
        it.number(ENABLED_AND_SHOWN);
        it.zeros(8);
        it.number(TRACK);
        it.zeros(4);
        it.number(duration);
        it.zeros(16);
        UNTURNED.into_iter().for_each(|number| it.number(number));
        it.number(size(track.width) << 16);
        it.number(size(track.height) << 16);
    });
}

fn media(parent: &mut Vec<u8>, track: &Track<'_>, (duration, data_at): (u32, u32)) {
    parent.add(b"mdia", |it| {
        it.add(b"mdhd", |it| {
            it.number(PLAIN);
            it.zeros(8);
            it.number(TIMESCALE);
            it.number(duration);
            it.number(NO_LANGUAGE);
            it.zeros(2);
        });
        it.add(b"hdlr", |it| {
            it.number(PLAIN);
            it.zeros(4);
            it.extend(b"vide");
            it.zeros(12);
            it.extend(b"video\0");
        });
        it.add(b"minf", |it| {
            it.add(b"vmhd", |it| {
                it.number(1_u32);
                it.zeros(8);
            });
            it.add(b"dinf", |it| {
                it.add(b"dref", |it| {
                    it.number(PLAIN);
                    it.number(1_u32);
                    // The data is in this file.
                    it.add(b"url ", |it| it.number(1_u32));
                });
            });
            it.add(b"stbl", |it| sample_table(it, track, data_at));
        });
    });
}

fn sample_table(table: &mut Vec<u8>, track: &Track<'_>, data_at: u32) {
    let count = size(track.samples.len());
    table.add(b"stsd", |it| {
        it.number(PLAIN);
        it.number(1_u32);
        coding(it, track);
    });
    table.add(b"stts", |it| numbers(it, &[1, count, frame_duration(track)]));
    table.add(b"stss", |it| {
        let numbered = (1_u32..).zip(track.samples);
        let whole: Vec<u32> = numbered.filter(|(_, it)| it.is_whole).map(|(at, _)| at).collect();
        numbers(it, &[size(whole.len())]);
        whole.into_iter().for_each(|at| it.number(at));
    });
    // All samples are in one chunk.
    table.add(b"stsc", |it| numbers(it, &[1, 1, count, 1]));
    table.add(b"stsz", |it| {
        numbers(it, &[0, count]);
        track.samples.iter().for_each(|sample| it.number(size(sample.bytes)));
    });
    table.add(b"stco", |it| numbers(it, &[1, data_at]));
}

fn numbers(target: &mut Vec<u8>, numbers: &[u32]) {
    target.number(PLAIN);
    numbers.iter().for_each(|number| target.number(*number));
}

fn coding(parent: &mut Vec<u8>, track: &Track<'_>) {
    const DOTS_PER_INCH: u32 = 72 << 16;
    const BITS_PER_PIXEL: u16 = 24;
    let side = |pixels: usize| u16::try_from(pixels).unwrap_or(u16::MAX);
    parent.add(b"avc1", |it| {
        it.zeros(6);
        it.number(1_u16);
        it.zeros(16);
        it.number(side(track.width));
        it.number(side(track.height));
        it.number(DOTS_PER_INCH);
        it.number(DOTS_PER_INCH);
        it.zeros(4);
        it.number(1_u16);
        it.zeros(32);
        it.number(BITS_PER_PIXEL);
        it.number(u16::MAX);
        it.add(b"avcC", |it| decoder_settings(it, track));
        it.add(b"colr", |it| {
            it.extend(b"nclx");
            [BT_709; 3].into_iter().for_each(|it_is| it.number(it_is));
            it.zeros(1);
        });
    });
}

fn decoder_settings(parent: &mut Vec<u8>, track: &Track<'_>) {
    let sequence = track.sequence_parameters;
    // Profile, constraints and level follow the NAL header.
    let described = sequence.get(1..4).unwrap_or(&[0; 3]);
    parent.push(1);
    parent.extend(described);
    // Four-byte lengths before NAL units; then one sequence and one picture parameter set.
    parent.push(0xff);
    let length = |unit: &[u8]| u16::try_from(unit.len()).unwrap_or(u16::MAX);
    parent.push(0xe1);
    parent.number(length(sequence));
    parent.extend(sequence);
    parent.push(1);
    parent.number(length(track.picture_parameters));
    parent.extend(track.picture_parameters);
}

fn boxed(name: &[u8; 4], contents: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut whole = Vec::new();
    whole.add(name, contents);
    whole
}

trait Boxes {
    /// Adds a child box.
    fn add(&mut self, name: &[u8; 4], contents: impl FnOnce(&mut Vec<u8>));
    fn number<N: BigEndian>(&mut self, number: N);
    fn zeros(&mut self, count: usize);
}

impl Boxes for Vec<u8> {
    fn add(&mut self, name: &[u8; 4], contents: impl FnOnce(&mut Vec<u8>)) {
        let begin = self.len();
        self.zeros(4);
        self.extend(name);
        contents(self);
        let length = size(self.len() - begin).to_be_bytes();
        self[begin..begin + 4].copy_from_slice(&length);
    }

    fn number<N: BigEndian>(&mut self, number: N) {
        self.extend(number.bytes());
    }

    fn zeros(&mut self, count: usize) {
        self.resize(self.len() + count, 0);
    }
}

trait BigEndian {
    fn bytes(self) -> impl IntoIterator<Item = u8>;
}

impl BigEndian for u16 {
    fn bytes(self) -> impl IntoIterator<Item = u8> {
        self.to_be_bytes()
    }
}

impl BigEndian for u32 {
    fn bytes(self) -> impl IntoIterator<Item = u8> {
        self.to_be_bytes()
    }
}
