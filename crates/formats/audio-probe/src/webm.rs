//! WebM: nested elements, and blocks with their play time.

use std::time::Duration;

use crate::bytes::{ReadNumbers, to_offset};

const NANOS_PER_TICK: u64 = 1_000_000;
/// Opus and Vorbis have no higher bit rate, which gives a minimum duration.
const BITS_PER_SECOND_MAX: u64 = 640_000;

/// Elements that are descended into. Live recordings have unknown sizes, so children are read as if
/// they were siblings.
const SEGMENT: u32 = 0x1853_8067;
const INFO: u32 = 0x1549_a966;
const CLUSTER: u32 = 0x1f43_b675;
const BLOCK_GROUP: u32 = 0xa0;

const TICK: u32 = 0x2a_d7b1;
const DURATION: u32 = 0x4489;
const CLUSTER_TIME: u32 = 0xe7;
const SIMPLE_BLOCK: u32 = 0xa3;
const BLOCK: u32 = 0xa1;

pub(crate) fn measure_length(file: &[u8]) -> Option<Duration> {
    let mut reading = WebmTiming::default();
    let mut rest = file;
    while let Some((id, size, body)) = read_element(rest) {
        let is_open = matches!(id, SEGMENT | INFO | CLUSTER | BLOCK_GROUP);
        if is_open {
            rest = body;
            continue;
        }
        let (content, after) = body.split_at(to_offset(size).min(body.len()));
        reading.add_element(id, content);
        rest = after;
    }
    reading.length()
}

#[derive(Default)]
struct WebmTiming {
    nanos_per_tick: Option<u64>,
    told_ticks: f64,
    cluster_ticks: u64,
    last_ticks: u64,
    block_bytes: u64,
}

impl WebmTiming {
    fn add_element(&mut self, id: u32, content: &[u8]) {
        match id {
            TICK => self.nanos_per_tick = Some(read_unsigned(content)),
            DURATION => self.told_ticks = read_float(content).unwrap_or(0.0),
            CLUSTER_TIME => self.cluster_ticks = read_unsigned(content),
            SIMPLE_BLOCK | BLOCK => self.add_block(content),
            _ => {}
        }
    }

    /// A block contains its track and its time relative to the cluster.
    fn add_block(&mut self, content: &[u8]) {
        let Some((_, track_bytes)) = read_vint(content, MarkerBit::Dropped) else { return };
        let Some(offset) = content.be16(track_bytes) else { return };
        let offset = i64::from(offset.cast_signed());
        let ticks = self.cluster_ticks.saturating_add_signed(offset);
        self.last_ticks = self.last_ticks.max(ticks);
        self.block_bytes += crate::bytes::count_bytes(content);
    }

    fn length(&self) -> Option<Duration> {
        let tick = self.nanos_per_tick.unwrap_or(NANOS_PER_TICK);
        let played = Duration::from_nanos(self.last_ticks.saturating_mul(tick));
        let least = crate::units_to_duration(self.block_bytes * 8, BITS_PER_SECOND_MAX)?;
        let told = Duration::from_nanos(tick).as_secs_f64() * self.told_ticks;
        let told = Duration::try_from_secs_f64(told).ok()?;
        // Without a block there is no audio, regardless of the header.
        (0 < self.block_bytes).then_some(told.max(played).max(least))
    }
}

/// The first element: id, size, and all data after its header.
fn read_element(bytes: &[u8]) -> Option<(u32, u64, &[u8])> {
    let (id, id_bytes) = read_vint(bytes, MarkerBit::Kept)?;
    let (size, size_bytes) = read_vint(bytes.get(id_bytes..)?, MarkerBit::Dropped)?;
    Some((u32::try_from(id).ok()?, size, bytes.get(id_bytes + size_bytes..)?))
}

/// Treatment of the length marker bit of a number: kept in ids, dropped in sizes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MarkerBit {
    Kept,
    Dropped,
}

fn read_vint(bytes: &[u8], marker: MarkerBit) -> Option<(u64, usize)> {
    let first = *bytes.first()?;
    let length = usize::try_from(first.leading_zeros()).ok()? + 1;
    let all = bytes.get(..length)?;
    let number = all.iter().fold(0, |sum, byte| (sum << 8) | u64::from(*byte));
    let bits = 7 * length;
    let number = if marker == MarkerBit::Kept { number } else { number & ((1 << bits) - 1) };
    (length <= 8).then_some((number, length))
}

fn read_unsigned(content: &[u8]) -> u64 {
    content.iter().take(8).fold(0, |sum, byte| (sum << 8) | u64::from(*byte))
}

fn read_float(content: &[u8]) -> Option<f64> {
    match content.len() {
        4 => Some(f32::from_bits(content.be32(0)?).into()),
        8 => Some(f64::from_bits(content.be64(0)?)),
        _ => None,
    }
}
