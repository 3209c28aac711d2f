//! Tests that parse the boxes, and decode the frames with the decoder of the same library.

use openh264::decoder::Decoder;
use openh264::formats::YUVSource;

use super::*;

const FORMAT: VideoFormat = VideoFormat { width: 96, height: 64, frames_per_second: 24 };

/// A bright square that moves to the right.
fn picture(number: usize) -> Vec<u8> {
    let pixel = |at: usize| {
        let (row, column) = (at / FORMAT.width, at % FORMAT.width);
        let is_inside = (16..48).contains(&row) && (number..number + 32).contains(&column);
        if is_inside { [230, 200, 40] } else { [20, 60, 160] }
    };
    (0..FORMAT.width * FORMAT.height).flat_map(pixel).collect()
}

fn frame(number: usize) -> VideoFrame {
    VideoFrame::from_rgb(FORMAT.width, FORMAT.height, &picture(number)).unwrap()
}

fn made(count: usize) -> Vec<u8> {
    let mut writer = VideoWriter::new(FORMAT).unwrap();
    (0..count).for_each(|number| writer.add_frame(&frame(number)).unwrap());
    writer.finish().unwrap()
}

/// The content of the box at this path.
fn find<'a>(mut bytes: &'a [u8], path: &[&[u8; 4]]) -> &'a [u8] {
    let Some((name, rest)) = path.split_first() else { return bytes };
    while let Some((length, behind)) = bytes.split_first_chunk::<4>() {
        let length = u32::from_be_bytes(*length) as usize;
        if behind[..4] == **name {
            return find(&bytes[8..length], rest);
        }
        bytes = &bytes[length..];
    }
    panic!("there is no {}", String::from_utf8_lossy(*name));
}

fn numbers(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks().0.iter().map(|it| u32::from_be_bytes(*it)).collect()
}

const TABLE: [&[u8; 4]; 5] = [b"moov", b"trak", b"mdia", b"minf", b"stbl"];

fn in_table(file: &[u8], name: &'static [u8; 4]) -> Vec<u32> {
    numbers(find(file, &[TABLE.as_slice(), &[name]].concat()))
}

#[test]
fn a_file_has_its_frames_where_its_index_says() {
    let file = made(60);
    assert_eq!(&file[4..8], b"ftyp");
    assert_eq!(in_table(&file, b"stts"), [0, 1, 60, 500]);
    assert_eq!(in_table(&file, b"stss"), [0, 2, 1, 49], "a whole frame every two seconds");
    let sizes = in_table(&file, b"stsz");
    assert_eq!(sizes[..3], [0, 0, 60]);
    let data_at = in_table(&file, b"stco")[2] as usize;
    let data: usize = sizes[3..].iter().map(|it| *it as usize).sum();
    assert_eq!(&file[data_at - 4..data_at], b"mdat");
    assert_eq!(file.len(), data_at + data);
    let duration = numbers(find(&file, &[b"moov", b"mvhd"]))[3..5].to_vec();
    assert_eq!(duration, [12_000, 30_000], "two and a half seconds");
}

#[test]
fn what_is_decoded_is_what_was_put_in() {
    let file = made(30);
    let coding = find(&file, &[TABLE.as_slice(), &[b"stsd"]].concat());
    let settings = find(&coding[8 + 8 + 78..], &[b"avcC"]);
    let length = |at: usize| usize::from(u16::from_be_bytes([settings[at], settings[at + 1]]));
    let sequence = &settings[8..8 + length(6)];
    let picture_at = 8 + sequence.len() + 1;
    let parameters = &settings[picture_at + 2..picture_at + 2 + length(picture_at)];
    let mut decoder = Decoder::new().unwrap();
    let code = [0, 0, 0, 1].as_slice();
    let _ = decoder.decode(&[code, sequence, code, parameters].concat()).unwrap();
    let mut at = in_table(&file, b"stco")[2] as usize;
    let mut shown = Vec::new();
    for bytes in &in_table(&file, b"stsz")[3..] {
        let unit = &file[at + 4..at + *bytes as usize];
        at += *bytes as usize;
        let decoded = decoder.decode(&[code, unit].concat()).unwrap();
        let decoded = decoded.expect("a picture for each frame");
        assert_eq!(decoded.dimensions(), (FORMAT.width, FORMAT.height));
        let (stride, luma) = (decoded.strides().0, decoded.y());
        let rows = (0..FORMAT.height).flat_map(|row| &luma[row * stride..][..FORMAT.width]);
        shown.push(rows.copied().collect::<Vec<u8>>());
    }
    for (number, shown) in shown.iter().enumerate() {
        let expected = frame(number).luma;
        let off: u32 = shown.iter().zip(&expected).map(|(a, b)| u32::from(a.abs_diff(*b))).sum();
        let off = f64::from(off) / expected.len() as f64;
        assert!(off < 2.0, "frame {number} is {off} levels off on average");
    }
}

#[test]
fn the_same_frames_give_the_same_bytes() {
    assert!(made(10) == made(10));
}

#[test]
fn what_cannot_be_a_video_is_refused() {
    let format = |width, height, frames_per_second| {
        VideoWriter::new(VideoFormat { width, height, frames_per_second }).is_err()
    };
    assert!(format(0, 64, 24) && format(97, 64, 24) && format(2000, 64, 24));
    assert!(format(96, 64, 0) && format(96, 64, 61) && !format(96, 64, 60));
    let mut writer = VideoWriter::new(FORMAT).unwrap();
    let small = VideoFrame::from_rgb(2, 2, &[0; 12]).unwrap();
    assert!(matches!(writer.add_frame(&small), Err(VideoError::FrameSize)));
    assert!(matches!(writer.finish(), Err(VideoError::FrameCount)));
}
