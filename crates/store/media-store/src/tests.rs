//! Objects in a directory: whole, in parts, damaged, deleted.

use std::convert::Infallible;

use bytes::Bytes;
use futures_util::{TryStreamExt, stream};
use moment::Timestamp;
use tempfile::TempDir;
use uuid::Uuid;

use crate::cipher::{PIECE_BYTES, SEALED_BYTES};
use crate::{MediaError, MediaStore, ObjectKey};

const OBJECT: Uuid = Uuid::from_u128(7);
const ANY_SIZE: u64 = u64::MAX;

fn key() -> ObjectKey {
    ObjectKey::new([9; 32])
}

fn store() -> (MediaStore, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (MediaStore::open_directory(&folder.path().join("media")).unwrap(), folder)
}

fn sound(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|index| u8::try_from(index * 31 % 251).unwrap()).collect()
}

async fn write(store: &MediaStore, bytes: &[u8]) -> Result<crate::WrittenObject, MediaError> {
    let pieces: Vec<Result<Bytes, Infallible>> =
        bytes.chunks(1000).map(|it| Ok(Bytes::copy_from_slice(it))).collect();
    store.write(OBJECT, &key(), stream::iter(pieces), ANY_SIZE).await
}

async fn read(
    store: &MediaStore,
    bytes: u64,
    range: std::ops::Range<u64>,
) -> Result<Vec<u8>, MediaError> {
    let stream = store.read(OBJECT, &key(), bytes, range)?;
    let pieces: Vec<Bytes> = stream.try_collect().await?;
    Ok(pieces.concat())
}

fn file(folder: &TempDir) -> std::path::PathBuf {
    folder.path().join("media").join(OBJECT.simple().to_string())
}

#[tokio::test]
async fn an_object_is_read_as_it_was_written_whatever_its_size() {
    for size in [1, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 20 * PIECE_BYTES, 3_000_001] {
        let (store, _folder) = store();
        let bytes = sound(size);
        let written = write(&store, &bytes).await.unwrap();
        assert_eq!(written.bytes, size as u64);
        assert_eq!(read(&store, size as u64, 0..size as u64).await.unwrap(), bytes, "{size}");
    }
}

#[tokio::test]
async fn any_part_of_an_object_can_be_read() {
    let (store, _folder) = store();
    let bytes = sound(5 * PIECE_BYTES + 17);
    write(&store, &bytes).await.unwrap();
    let piece = PIECE_BYTES as u64;
    let all = bytes.len() as u64;
    for range in [0..1, 5..piece, piece - 1..piece + 1, piece..2 * piece, all - 1..all, 3..all] {
        let wanted =
            &bytes[usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()];
        assert_eq!(read(&store, all, range.clone()).await.unwrap(), wanted, "{range:?}");
    }
}

#[tokio::test]
async fn nothing_of_an_object_is_on_the_disk_in_plain() {
    let (store, folder) = store();
    write(&store, b"a secret melody that nobody else may hear").await.unwrap();
    let raw = std::fs::read(file(&folder)).unwrap();
    assert!(!raw.windows(6).any(|window| window == b"secret"));
}

#[tokio::test]
async fn a_flipped_bit_a_cut_and_another_name_are_noticed() {
    let size = 2 * PIECE_BYTES;
    let (store, folder) = store();
    write(&store, &sound(size)).await.unwrap();
    let raw = std::fs::read(file(&folder)).unwrap();
    let mut flipped = raw.clone();
    flipped[100] ^= 1;
    std::fs::write(file(&folder), &flipped).unwrap();
    assert!(matches!(read(&store, size as u64, 0..10).await, Err(MediaError::Broken)));
    // The first piece alone, as if the object had been that short.
    std::fs::write(file(&folder), &raw[..SEALED_BYTES]).unwrap();
    assert!(matches!(read(&store, PIECE_BYTES as u64, 0..10).await, Err(MediaError::Broken)));
    let other = Uuid::from_u128(8);
    std::fs::write(folder.path().join("media").join(other.simple().to_string()), &raw).unwrap();
    let stolen = store.read(other, &key(), size as u64, 0..10).unwrap();
    assert!(matches!(stolen.try_collect::<Vec<_>>().await, Err(MediaError::Broken)));
}

#[tokio::test]
async fn what_is_too_large_empty_or_breaks_off_leaves_no_object() {
    let (store, folder) = store();
    let large = stream::iter([Ok::<_, Infallible>(Bytes::from(sound(1000)))]);
    let error = store.write(OBJECT, &key(), large, 999).await.unwrap_err();
    assert!(matches!(error, MediaError::TooLarge(999)), "{error}");
    assert!(matches!(write(&store, b"").await, Err(MediaError::Empty)));
    let broken = stream::iter([Ok(Bytes::from(sound(1000))), Err("cut")]);
    let error = store.write(OBJECT, &key(), broken, ANY_SIZE).await.unwrap_err();
    assert!(matches!(error, MediaError::Source(_)), "{error}");
    assert!(!file(&folder).exists());
}

#[tokio::test]
async fn a_deleted_object_is_gone_and_can_be_deleted_again() {
    let (store, _folder) = store();
    write(&store, b"x").await.unwrap();
    assert!(store.delete(OBJECT).await.unwrap());
    assert!(store.delete(OBJECT).await.unwrap());
    assert!(matches!(read(&store, 1, 0..1).await, Err(MediaError::Missing)));
}

#[tokio::test]
async fn objects_are_listed_by_age() {
    let (store, _folder) = store();
    write(&store, b"x").await.unwrap();
    assert_eq!(store.written_before(Timestamp::MAX).await.unwrap(), [OBJECT]);
    assert!(store.written_before(Timestamp::from_ms(0)).await.unwrap().is_empty());
}
