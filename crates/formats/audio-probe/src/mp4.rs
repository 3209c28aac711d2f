//! MP4: nested boxes; each audio track has tables of sample durations.

use std::time::Duration;

use crate::bytes::{ReadNumbers, to_offset};
use crate::units_to_duration;

const FULL_BOX_BYTES: usize = 4;
/// Fragments name their track; a file has few tracks.
const TRACKS_MAX: usize = 16;

/// One track.
#[derive(Default)]
struct Mp4Track {
    id: u32,
    is_sound: bool,
    units_per_second: u64,
    told: u64,
    /// Sum of the duration table and all fragments.
    summed: u64,
    samples: u64,
    /// For AAC, whose samples have a constant duration.
    aac_rate: Option<u64>,
}

pub(crate) fn measure_length(file: &[u8]) -> Option<Duration> {
    let mut tracks = Vec::new();
    for (_, body) in iter_boxes(file).filter(|(kind, _)| kind == b"moov") {
        for (_, track) in iter_boxes(body).filter(|(kind, _)| kind == b"trak").take(TRACKS_MAX) {
            tracks.push(Mp4Track::read(track));
        }
    }
    for (_, fragment) in iter_boxes(file).filter(|(kind, _)| kind == b"moof") {
        for (_, part) in iter_boxes(fragment).filter(|(kind, _)| kind == b"traf") {
            add_fragment(&mut tracks, part);
        }
    }
    tracks.iter().filter(|track| track.is_sound).filter_map(Mp4Track::length).max()
}

impl Mp4Track {
    fn read(track: &[u8]) -> Mp4Track {
        let mut found = Mp4Track::default();
        let header =
            find_child_box(track, b"tkhd").and_then(|it| it.be32(versioned_offset(it, 12, 20)));
        found.id = header.unwrap_or(0);
        let Some(media) = find_child_box(track, b"mdia") else { return found };
        found.is_sound =
            find_child_box(media, b"hdlr").and_then(|it| it.get(8..12)) == Some(b"soun");
        if let Some(header) = find_child_box(media, b"mdhd") {
            found.units_per_second =
                header.be32(versioned_offset(header, 12, 20)).unwrap_or(0).into();
            found.told = match header.first() {
                Some(1) => header.be64(24).unwrap_or(0),
                _ => header.be32(16).unwrap_or(0).into(),
            };
        }
        let table = find_child_box(media, b"minf")
            .and_then(|it| find_child_box(it, b"stbl"))
            .unwrap_or(&[]);
        found.summed = find_child_box(table, b"stts").map_or(0, sum_of_durations);
        found.samples =
            find_child_box(table, b"stsz").and_then(|it| it.be32(8)).unwrap_or(0).into();
        found.aac_rate = find_child_box(table, b"stsd").and_then(aac_rate);
        found
    }

    fn length(&self) -> Option<Duration> {
        let units = self.told.max(self.summed);
        let by_units = units_to_duration(units, self.units_per_second);
        let by_samples =
            self.aac_rate.and_then(|rate| units_to_duration(self.samples * 1024, rate));
        by_units.max(by_samples)
    }
}

/// Version 1 of a box has wider times before the field.
fn versioned_offset(body: &[u8], first: usize, later: usize) -> usize {
    if body.first() == Some(&1) { later } else { first }
}

/// Sums entries of count and duration.
fn sum_of_durations(table: &[u8]) -> u64 {
    let entries = table.get(FULL_BOX_BYTES + 4..).unwrap_or(&[]);
    let sums = entries.as_chunks::<8>().0.iter().map(|entry| {
        let number = |at| u64::from(entry.be32(at).unwrap_or(0));
        number(0) * number(4)
    });
    sums.fold(0, u64::saturating_add)
}

/// The sample rate of the first description, if it is AAC.
fn aac_rate(descriptions: &[u8]) -> Option<u64> {
    let (kind, body) = iter_boxes(descriptions.get(FULL_BOX_BYTES + 4..)?).next()?;
    // The rate is the upper half of a 32-bit number.
    (&kind == b"mp4a").then_some(u64::from(body.be16(24)?)).filter(|rate| 0 < *rate)
}

fn add_fragment(tracks: &mut [Mp4Track], part: &[u8]) {
    let Some(header) = find_child_box(part, b"tfhd") else { return };
    let id = header.be32(4);
    let Some(track) = tracks.iter_mut().find(|track| Some(track.id) == id) else { return };
    let default = default_duration(header).unwrap_or(0);
    for (_, run) in iter_boxes(part).filter(|(kind, _)| kind == b"trun") {
        track.summed = track.summed.saturating_add(run_duration(run, default));
        track.samples = track.samples.saturating_add(run.be32(4).unwrap_or(0).into());
    }
}

/// The default duration of a fragment's samples.
fn default_duration(header: &[u8]) -> Option<u64> {
    let flags = header.be32(0)?;
    let has = |bit: u32| flags & bit != 0;
    if !has(0x08) {
        return None;
    }
    let at = 8 + if has(0x01) { 8 } else { 0 } + if has(0x02) { 4 } else { 0 };
    header.be32(at).map(u64::from)
}

fn run_duration(run: &[u8], default: u64) -> u64 {
    let flags = run.be32(0).unwrap_or(0);
    let samples = u64::from(run.be32(4).unwrap_or(0));
    let has = |bit: u32| flags & bit != 0;
    if !has(0x100) {
        return samples.saturating_mul(default);
    }
    let start = 8 + if has(0x01) { 4 } else { 0 } + if has(0x04) { 4 } else { 0 };
    let fields = [0x100, 0x200, 0x400, 0x800].into_iter().filter(|bit| has(*bit)).count();
    let entries = run.get(start..).unwrap_or(&[]).chunks_exact(4 * fields);
    let durations = entries.take(to_offset(samples)).filter_map(|entry| entry.be32(0));
    durations.fold(0, |sum, it| sum.saturating_add(it.into()))
}

fn find_child_box<'a>(body: &'a [u8], wanted: &[u8; 4]) -> Option<&'a [u8]> {
    iter_boxes(body).find(|(kind, _)| kind == wanted).map(|(_, body)| body)
}

/// The sibling boxes in these bytes. A truncated box is returned as far as it goes.
fn iter_boxes(bytes: &[u8]) -> impl Iterator<Item = ([u8; 4], &[u8])> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let kind = rest.get(4..8)?.try_into().ok()?;
        let (header, size) = match rest.be32(0)? {
            0 => (8, rest.len()),
            1 => (16, to_offset(rest.be64(8)?)),
            size => (8, to_offset(size.into())),
        };
        let size = size.min(rest.len());
        let (whole, after) = rest.split_at(size);
        let body = whole.get(header..)?;
        rest = after;
        Some((kind, body))
    })
}
