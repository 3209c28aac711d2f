//! Tests of tiling, without a network.

use super::*;

/// Enlarges by repeating pixels instead of a network.
fn put_together(picture: &RgbaPicture, sides: PictureSides, core_max: usize) -> RgbaPicture {
    const FACTOR: usize = 2;
    let columns = TileDivision::divide_axis(picture.width, core_max, 8);
    let rows = TileDivision::divide_axis(picture.height, core_max, 8);
    let PictureSides { width, height } = sides;
    let mut result = RgbaPicture { width, height, rgba: vec![0; width * height * CHANNELS] };
    let part_size = PictureSides { width: columns.part_length(), height: rows.part_length() };
    for down in rows.tile_spans(height) {
        for right in columns.tile_spans(width) {
            let part = ImageTile { picture, size: part_size, right, down: down.clone() };
            for channel in 0..CHANNELS {
                let seen = part.read_channel(channel);
                let doubled: Vec<f32> = seen
                    .chunks_exact(part_size.width)
                    .flat_map(|row| {
                        let row: Vec<f32> = row.iter().flat_map(|it| [*it; FACTOR]).collect();
                        row.repeat(FACTOR)
                    })
                    .collect();
                part.write_channel(&mut result, channel, &doubled, FACTOR);
            }
        }
    }
    result
}

fn gradient(width: usize, height: usize) -> RgbaPicture {
    let pixel = |at: usize| {
        let (x, y) = (at % width, at / width);
        [(x * 7 % 256) as u8, (y * 5 % 256) as u8, ((x + y) % 256) as u8, (x * y % 256) as u8]
    };
    let rgba = (0..width * height).flat_map(pixel).collect();
    RgbaPicture::new(width, height, rgba).unwrap()
}

#[test]
fn parts_join_to_what_the_whole_gives() {
    let picture = gradient(101, 67);
    for (width, height) in [(202, 134), (101, 67), (303, 201), (404, 268), (150, 99)] {
        let sides = PictureSides { width, height };
        let whole = put_together(&picture, sides, 1000);
        for core_max in [16, 33, 64] {
            let joined = put_together(&picture, sides, core_max);
            let far = whole.rgba.iter().zip(&joined.rgba).map(|(a, b)| a.abs_diff(*b)).max();
            assert!(far <= Some(1), "{sides:?} in parts of {core_max}: {far:?} levels off");
        }
    }
}

#[test]
fn twice_as_large_by_a_factor_of_two_is_what_the_network_made() {
    let picture = gradient(40, 30);
    let result = put_together(&picture, PictureSides { width: 80, height: 60 }, 16);
    for row in 0..60 {
        for (column, pixel) in result.row(row).iter().enumerate() {
            assert_eq!(pixel, &picture.row(row / 2)[column / 2]);
        }
    }
}

#[test]
fn a_huge_picture_is_made_smaller_before_the_network_sees_it() {
    assert!(reduce_large_picture(&gradient(64, 64)).is_none());
    let long = RgbaPicture::new(64, 80_000, vec![200; 64 * 80_000 * CHANNELS]).unwrap();
    let smaller = reduce_large_picture(&long).unwrap();
    assert!(smaller.width * smaller.height <= WORK_PIXELS_MAX);
    assert!(smaller.rgba.iter().all(|it| *it == 200));
}
