//! Properties that hold for any bytes of a recording. Shared by the fuzz target and the test of its
//! seeds.

use std::time::Duration;

/// Longer recordings are rejected.
const LENGTH_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// Inspects any bytes. Returns true if they are a recording.
pub(crate) fn sound_file(bytes: &[u8]) -> bool {
    let first = audio_probe::inspect_recording(bytes);
    assert_eq!(first, audio_probe::inspect_recording(bytes), "the same bytes last as long");
    match first {
        Ok(recording) => {
            assert!(!recording.length.is_zero() && recording.length <= LENGTH_MAX);
            let (container, sound) =
                audio_probe::detect_container(bytes).expect("it was recognised before");
            assert_eq!(container, recording.container);
            assert!(bytes.ends_with(sound), "the sound is the rest of the file");
        }
        Err(fault) => assert!(!fault.to_string().is_empty()),
    }
    let mut completed = bytes.to_vec();
    audio_probe::complete_wav(&mut completed);
    assert_eq!(completed.len(), bytes.len(), "only sizes are written");
    first.is_ok()
}
