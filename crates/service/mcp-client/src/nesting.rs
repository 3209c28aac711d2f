//! Bounds the depth of JSON before it is parsed.

use crate::NESTING_MAX;

/// True if brackets outside of texts are nested more than [`NESTING_MAX`] levels deep.
pub(crate) fn is_too_deep(json: &[u8]) -> bool {
    let (mut depth, mut in_text, mut is_escaped) = (0_usize, false, false);
    for byte in json {
        if in_text {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => in_text = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_text = true,
            b'[' | b'{' => {
                depth += 1;
                if NESTING_MAX < depth {
                    return true;
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_are_counted_outside_of_texts_only() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(!is_too_deep(nested(NESTING_MAX).as_bytes()));
        assert!(is_too_deep(nested(NESTING_MAX + 1).as_bytes()));
        let text = format!("[\"\\\"{}\"]", "[".repeat(1000));
        assert!(!is_too_deep(text.as_bytes()));
        let side_by_side = "[],".repeat(1000);
        assert!(!is_too_deep(side_by_side.as_bytes()));
    }
}
