//! How long a sound is, found by walking its packets without decoding them.

use symphonia::core::units::TimeBase;

use crate::sniff::Container;
use crate::source::{Limits, SoundError, Source};

/// What is known of a sound without decoding it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    pub container: Container,
    pub duration_s: f64,
}

/// Walks the packets of a file. Lengths in headers are not believed where the codec says how
/// long a packet is, for the length decides about money. A damaged packet shows only in decoding.
pub fn measure(file: &[u8], limits: &Limits) -> Result<Measured, SoundError> {
    let mut source = Source::open(file, limits)?;
    let rate = source.codec.sample_rate.unwrap_or_default();
    let time_base = source.track.time_base.or(TimeBase::try_from_recip(rate));
    let tick_s = time_base.map_or(0.0, f64::from);
    let mut duration_s = 0.0;
    while let Some(packet) = source.packet()? {
        let declared_s = packet.dur.get() as f64 * tick_s;
        duration_s += declared_s.max(source.packet_s(&packet).unwrap_or_default());
        if f64::from(limits.seconds_max) < duration_s {
            return Err(SoundError::TooLong { seconds_max: limits.seconds_max });
        }
    }
    if duration_s == 0.0 {
        return Err(SoundError::Silent);
    }
    Ok(Measured { container: source.container, duration_s })
}
