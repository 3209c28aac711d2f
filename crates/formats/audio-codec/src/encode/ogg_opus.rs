//! Opus in Ogg (RFC 7845), in packets of 20 ms; the packets of each push end a page.

use ogg::writing::{PacketWriteEndInfo, PacketWriter};
use opus::{Application, Bitrate, Channels, Encoder};

use super::EncodeError;

const FORMAT: &str = "opus";
const SAMPLE_RATES: [u32; 5] = [8_000, 12_000, 16_000, 24_000, 48_000];
/// Ogg positions count samples at this rate.
const GRANULE_RATE: u32 = 48_000;
const PACKETS_PER_S: u32 = 50;
const BITRATE: Bitrate = Bitrate::Bits(48_000);
/// The library's maximum packet size.
const PACKET_BYTES_MAX: usize = 4_000;
/// Any number works for a file with one stream.
const SERIAL: u32 = 1;
/// Maximum packets per page, so that players start early.
const PAGE_PACKETS_MAX: u32 = PACKETS_PER_S;

pub(super) struct OggOpusEncoder {
    encoder: Encoder,
    pages: PacketWriter<'static, Vec<u8>>,
    sample_rate: u32,
    pre_skip: u64,
    waiting: Vec<f32>,
    samples: u64,
    packets: u64,
    /// The newest packet is held back: only the next call shows if it is the last.
    held: Option<Vec<u8>>,
    page_packets: u32,
}

impl OggOpusEncoder {
    pub(super) fn new(sample_rate: u32) -> Result<OggOpusEncoder, EncodeError> {
        if !SAMPLE_RATES.contains(&sample_rate) {
            return Err(EncodeError::SampleRate { format: FORMAT, sample_rate });
        }
        let mut encoder =
            Encoder::new(sample_rate, Channels::Mono, Application::Audio).map_err(encode_error)?;
        encoder.set_bitrate(BITRATE).map_err(encode_error)?;
        let lookahead = u64::try_from(encoder.get_lookahead().map_err(encode_error)?).unwrap_or(0);
        let mut opus = OggOpusEncoder {
            encoder,
            pages: PacketWriter::new(Vec::new()),
            sample_rate,
            pre_skip: lookahead * u64::from(GRANULE_RATE / sample_rate),
            waiting: Vec::new(),
            samples: 0,
            packets: 0,
            held: None,
            page_packets: 0,
        };
        opus.write(opus_head(opus.pre_skip, sample_rate), PacketWriteEndInfo::EndPage, 0)?;
        opus.write(opus_tags(), PacketWriteEndInfo::EndPage, 0)?;
        Ok(opus)
    }

    pub(super) fn push(&mut self, samples: &[f32]) -> Result<Vec<u8>, EncodeError> {
        self.samples += samples.len() as u64;
        self.waiting.extend_from_slice(samples);
        self.encode_packets()?;
        Ok(std::mem::take(self.pages.inner_mut()))
    }

    pub(super) fn finish(mut self) -> Result<Vec<u8>, EncodeError> {
        let scale = u64::from(GRANULE_RATE / self.sample_rate);
        let end = self.pre_skip + self.samples * scale;
        // Silence flushes the encoder's lookahead.
        let packet = self.packet_samples() as u64;
        let packets = (self.samples + self.pre_skip / scale).div_ceil(packet).max(1);
        let missing = packets * packet - self.packets * packet;
        self.waiting.resize(usize::try_from(missing).unwrap_or(0), 0.0);
        self.encode_packets()?;
        if let Some(last) = self.held.take() {
            self.write(last, PacketWriteEndInfo::EndStream, end)?;
        }
        Ok(std::mem::take(self.pages.inner_mut()))
    }

    /// Encodes complete packets and keeps the rest.
    fn encode_packets(&mut self) -> Result<(), EncodeError> {
        let packet = self.packet_samples();
        let whole = self.waiting.len() / packet * packet;
        let samples: Vec<f32> = self.waiting.drain(..whole).collect();
        let frames = samples.len() / packet;
        for (index, frame) in samples.chunks(packet).enumerate() {
            let is_last = index + 1 == frames;
            self.release_held(is_last)?;
            let bytes =
                self.encoder.encode_vec_float(frame, PACKET_BYTES_MAX).map_err(encode_error)?;
            self.held = Some(bytes);
            self.packets += 1;
        }
        Ok(())
    }

    fn release_held(&mut self, is_page_end: bool) -> Result<(), EncodeError> {
        let Some(packet) = self.held.take() else {
            return Ok(());
        };
        self.page_packets += 1;
        let end = if is_page_end || PAGE_PACKETS_MAX <= self.page_packets {
            self.page_packets = 0;
            PacketWriteEndInfo::EndPage
        } else {
            PacketWriteEndInfo::NormalPacket
        };
        let at = self.packets * u64::from(GRANULE_RATE / PACKETS_PER_S);
        self.write(packet, end, at)
    }

    fn write(
        &mut self,
        packet: Vec<u8>,
        end: PacketWriteEndInfo,
        granule: u64,
    ) -> Result<(), EncodeError> {
        self.pages.write_packet(packet, SERIAL, end, granule).map_err(encode_error)
    }

    fn packet_samples(&self) -> usize {
        (self.sample_rate / PACKETS_PER_S) as usize
    }
}

fn opus_head(pre_skip: u64, sample_rate: u32) -> Vec<u8> {
    const VERSION: u8 = 1;
    const CHANNELS: u8 = 1;
    let mut head = b"OpusHead".to_vec();
    head.extend_from_slice(&[VERSION, CHANNELS]);
    head.extend_from_slice(&(pre_skip as u16).to_le_bytes());
    head.extend_from_slice(&sample_rate.to_le_bytes());
    // No gain, and channel mapping family 0.
    head.extend_from_slice(&[0, 0, 0]);
    head
}

fn opus_tags() -> Vec<u8> {
    const VENDOR: &[u8] = b"tollgate";
    let mut tags = b"OpusTags".to_vec();
    tags.extend_from_slice(&(VENDOR.len() as u32).to_le_bytes());
    tags.extend_from_slice(VENDOR);
    tags.extend_from_slice(&0_u32.to_le_bytes());
    tags
}

fn encode_error(cause: impl ToString) -> EncodeError {
    EncodeError::Failed { format: FORMAT, cause: cause.to_string() }
}
