//! Ogg: pages with packets of Opus, Vorbis, FLAC or Speex, in consecutive or parallel streams.

use std::time::Duration;

use crate::bytes::ReadNumbers;
use crate::flac::StreamInfo;
use crate::{opus, units_to_duration};

const PAGE_HEADER_BYTES: usize = 27;
/// Radio stations chain streams; a file with more of them is not a recording.
const STREAMS_MAX: usize = 64;
/// The position of a page on which no packet ends.
const NO_POSITION: u64 = u64::MAX;

/// One audio stream of the file.
struct OggStream {
    serial: u32,
    codec: OggCodec,
    /// The position of the last page, in samples.
    position: u64,
    /// Samples counted by packet; used for Opus only.
    counted: u64,
    packets: u64,
    /// Set if the last packet continues on the next page.
    has_open_packet: bool,
}

enum OggCodec {
    Opus,
    /// Positions are in samples at this rate.
    Rated(u64),
}

pub(crate) fn measure_length(file: &[u8]) -> Option<Duration> {
    let mut streams: Vec<OggStream> = Vec::new();
    let mut rest = file;
    while let Some((page, after)) = read_page(rest) {
        rest = after;
        let known = streams.iter().position(|stream| stream.serial == page.serial);
        let index = match known {
            Some(index) => index,
            None => {
                let Some(codec) = detect_codec(page.body) else { continue };
                if streams.len() == STREAMS_MAX {
                    return None;
                }
                streams.push(OggStream::new(page.serial, codec));
                streams.len() - 1
            }
        };
        streams[index].add_page(&page);
    }
    let mut length = Duration::ZERO;
    for stream in &streams {
        length = length.checked_add(stream.length()?)?;
    }
    Some(length)
}

impl OggStream {
    fn new(serial: u32, codec: OggCodec) -> OggStream {
        OggStream { serial, codec, position: 0, counted: 0, packets: 0, has_open_packet: false }
    }

    fn add_page(&mut self, page: &OggPage<'_>) {
        if page.position != NO_POSITION {
            self.position = self.position.max(page.position);
        }
        let mut at = 0;
        for (size, is_whole) in split_packets(page.lacing) {
            let is_start = !self.has_open_packet;
            self.has_open_packet = !is_whole;
            // The first two packets are headers.
            if is_start {
                self.packets += 1;
                if 2 < self.packets {
                    self.counted += opus::count_packet_samples(page.body.get(at..).unwrap_or(&[]));
                }
            }
            at += size;
        }
    }

    fn length(&self) -> Option<Duration> {
        match self.codec {
            // Decoders play all packets; the position may claim that the last is trimmed.
            OggCodec::Opus => units_to_duration(self.counted, opus::RATE),
            OggCodec::Rated(rate) => units_to_duration(self.position, rate),
        }
    }
}

struct OggPage<'a> {
    serial: u32,
    position: u64,
    lacing: &'a [u8],
    body: &'a [u8],
}

/// The next page, possibly truncated, and the data after it.
fn read_page(file: &[u8]) -> Option<(OggPage<'_>, &[u8])> {
    let start = file.windows(4).position(|it| it == b"OggS")?;
    let page = &file[start..];
    let segments = usize::from(*page.get(PAGE_HEADER_BYTES - 1)?);
    let lacing = page.get(PAGE_HEADER_BYTES..PAGE_HEADER_BYTES + segments)?;
    let size = lacing.iter().map(|it| usize::from(*it)).sum::<usize>();
    let body = &page[PAGE_HEADER_BYTES + segments..];
    let (body, after) = body.split_at(size.min(body.len()));
    Some((OggPage { serial: page.le32(14)?, position: page.le64(6)?, lacing, body }, after))
}

/// The sizes of a page's packets; true if the packet ends there.
fn split_packets(lacing: &[u8]) -> impl Iterator<Item = (usize, bool)> {
    let ends_open = lacing.last() == Some(&255);
    let count = lacing.split_inclusive(|it| *it < 255).count();
    lacing.split_inclusive(|it| *it < 255).enumerate().map(move |(index, part)| {
        let size = part.iter().map(|it| usize::from(*it)).sum();
        (size, !(ends_open && index + 1 == count))
    })
}

/// The codec from a stream's first page; `None` if it is not audio.
fn detect_codec(body: &[u8]) -> Option<OggCodec> {
    if body.starts_with(b"OpusHead") {
        return Some(OggCodec::Opus);
    }
    if body.starts_with(b"\x01vorbis") {
        return Some(OggCodec::Rated(body.le32(12)?.into()));
    }
    if body.starts_with(b"Speex   ") {
        return Some(OggCodec::Rated(body.le32(36)?.into()));
    }
    if body.starts_with(b"\x7fFLAC") {
        let info = StreamInfo::read(body.get(17..)?)?;
        return Some(OggCodec::Rated(info.rate));
    }
    None
}
