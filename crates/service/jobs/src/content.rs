//! Detects the type of a file by its first bytes, ignoring the type that the provider sent.

use store::job::JobKind;

/// The media type if a job of this kind may produce it; `None` otherwise.
pub(crate) fn content_type(kind: JobKind, head: &[u8]) -> Option<&'static str> {
    match kind {
        JobKind::Music => detect_sound_type(head),
        JobKind::Video => detect_video_type(head),
    }
}

/// The usual file extension of a media type.
pub(crate) fn find_extension(content_type: &str) -> &'static str {
    match content_type {
        "audio/mpeg" => "mp3",
        "audio/wav" => "wav",
        "audio/flac" => "flac",
        "audio/ogg" => "ogg",
        "audio/mp4" => "m4a",
        "video/mp4" => "mp4",
        "video/webm" => "webm",
        "video/quicktime" => "mov",
        "video/x-msvideo" => "avi",
        "image/webp" => "webp",
        "image/gif" => "gif",
        _ => "bin",
    }
}

fn detect_sound_type(head: &[u8]) -> Option<&'static str> {
    match head {
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'A', b'V', b'E', ..] => Some("audio/wav"),
        [b'f', b'L', b'a', b'C', ..] => Some("audio/flac"),
        [b'O', b'g', b'g', b'S', ..] => Some("audio/ogg"),
        [b'I', b'D', b'3', ..] => Some("audio/mpeg"),
        // MPEG sync: eleven one bits, then a non-zero layer; ADTS has layer 0.
        [0xff, second, ..] if second & 0xe0 == 0xe0 && second & 0x06 != 0 => Some("audio/mpeg"),
        [_, _, _, _, b'f', b't', b'y', b'p', ..] => Some("audio/mp4"),
        _ => None,
    }
}

/// Includes animated images, which some engines produce instead of videos.
fn detect_video_type(head: &[u8]) -> Option<&'static str> {
    match head {
        [_, _, _, _, b'f', b't', b'y', b'p', b'q', b't', b' ', b' ', ..] => Some("video/quicktime"),
        [_, _, _, _, b'f', b't', b'y', b'p', ..] => Some("video/mp4"),
        [0x1a, 0x45, 0xdf, 0xa3, ..] => Some("video/webm"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'A', b'V', b'I', b' ', ..] => Some("video/x-msvideo"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        _ => None,
    }
}
