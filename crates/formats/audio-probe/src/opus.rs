//! The duration of an Opus packet, from its first byte.

/// Opus always counts samples at 48 kHz.
pub(crate) const RATE: u64 = 48_000;
/// The maximum packet duration is 120 ms.
const PACKET_SAMPLES_MAX: u64 = 5760;

/// The samples of a packet; 0 if it is empty.
pub(crate) fn count_packet_samples(packet: &[u8]) -> u64 {
    let Some(first) = packet.first() else { return 0 };
    let frame = match first >> 3 {
        // SILK: 10, 20, 40 and 60 ms.
        config @ 0..=11 => [480, 960, 1920, 2880][usize::from(config % 4)],
        config @ 12..=15 => [480, 960][usize::from(config % 2)],
        // CELT: 2.5, 5, 10 and 20 ms.
        config => [120, 240, 480, 960][usize::from(config % 4)],
    };
    let frames = match first & 3 {
        0 => 1,
        1 | 2 => 2,
        _ => u64::from(packet.get(1).copied().unwrap_or(0) & 0x3f),
    };
    (frame * frames).min(PACKET_SAMPLES_MAX)
}
