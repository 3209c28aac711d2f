//! Unpacks the colour profile of a PNG file with a size limit.

use std::io::Read as _;

use flate2::read::ZlibDecoder;

const SIGNATURE_BYTES: usize = 8;
/// The standard's limit of a profile name.
const NAME_BYTES_MAX: usize = 79;
const DEFLATE: u8 = 0;

/// Returns the profile, or `None` if there is none, if it cannot be unpacked, or if it exceeds
/// `bytes_max`. Never unpacks more than that.
pub(crate) fn read_png_profile(file: &[u8], bytes_max: usize) -> Option<Vec<u8>> {
    let mut rest = file.get(SIGNATURE_BYTES..)?;
    loop {
        let (length, after) = rest.split_first_chunk::<4>()?;
        let (kind, after) = after.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
        let content = after.get(..length)?;
        match kind {
            b"iCCP" => return unpack_profile(content, bytes_max),
            // The profile precedes the pixels.
            b"IDAT" | b"IEND" => return None,
            _ => rest = after.get(length.checked_add(4)?..)?,
        }
    }
}

/// Parses the name, its terminator, the compression method and the compressed profile.
fn unpack_profile(content: &[u8], bytes_max: usize) -> Option<Vec<u8>> {
    let name_bytes = content.iter().take(NAME_BYTES_MAX + 1).position(|byte| *byte == 0)?;
    let (packing, packed) = content.get(name_bytes + 1..)?.split_first()?;
    if *packing != DEFLATE {
        return None;
    }
    let mut profile = Vec::new();
    let bound = u64::try_from(bytes_max).ok()?.checked_add(1)?;
    ZlibDecoder::new(packed).take(bound).read_to_end(&mut profile).ok()?;
    (profile.len() <= bytes_max).then_some(profile)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;

    use super::*;

    fn file(profile: &[u8]) -> Vec<u8> {
        let mut packer = ZlibEncoder::new(b"name\0\0".to_vec(), Compression::best());
        packer.write_all(profile).unwrap();
        let content = packer.finish().unwrap();
        let chunk = |kind: &[u8], content: &[u8]| {
            let length = u32::try_from(content.len()).unwrap().to_be_bytes();
            [&length, kind, content, &[0; 4]].concat()
        };
        [vec![0; SIGNATURE_BYTES], chunk(b"IHDR", &[0; 13]), chunk(b"iCCP", &content)].concat()
    }

    #[test]
    fn a_profile_is_unpacked_up_to_its_bound() {
        assert_eq!(read_png_profile(&file(&[7; 1000]), 1000).unwrap(), [7; 1000]);
        assert_eq!(read_png_profile(&file(&[7; 1001]), 1000), None);
    }

    #[test]
    fn files_that_are_cut_short_have_no_profile() {
        let whole = file(&[7; 1000]);
        for length in 0..whole.len() - 4 {
            assert_eq!(read_png_profile(&whole[..length], 1000), None, "{length}");
        }
    }
}
