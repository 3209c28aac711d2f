//! Tests of permitted inputs, and of every notation of forbidden ones.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;

use super::header_reader::{HEADER_BYTES_MAX, HeaderReader};
use super::parse_host as media_host;
use super::*;

/// The error message for an image, or an empty text.
fn told(text: &str) -> String {
    check_picture(text).err().map(|fault| fault.to_string()).unwrap_or_default()
}

fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes
}

fn jpeg(width: u16, height: u16) -> Vec<u8> {
    let mut bytes = b"\xff\xd8\xff\xe0\0\x04ab\xff\xc0\0\x11\x08".to_vec();
    bytes.extend(height.to_be_bytes());
    bytes.extend(width.to_be_bytes());
    bytes
}

fn inline(media_type: &str, bytes: &[u8]) -> String {
    format!("data:{media_type};base64,{}", STANDARD.encode(bytes))
}

#[test]
fn public_addresses_pass() {
    for url in [
        "https://example.com/a.png",
        "http://example.com:80/a.png?b=c#d",
        "https://example.com:443/",
        "HTTPS://EXAMPLE.COM/A.PNG",
        "https://8.8.8.8/a.png",
        "https://172.15.0.1/",
        "https://172.32.0.1/",
        "https://100.63.0.1/",
        "https://100.128.0.1/",
        "https://[2606:4700::1111]/a.png",
        "https://bücher.example.org/",
        "https://internal.example.com/",
        "https://notlocal.io/",
    ] {
        assert_eq!(told(url), "", "{url}");
    }
}

const PRIVATE: &str = "Its URL must name a public host; send a data URL instead.";

#[test]
fn addresses_inside_a_network_are_refused_however_they_are_written() {
    for url in [
        "http://127.0.0.1/",
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f.0.0.1/",
        "http://0177.0.0.1/",
        "http://①②⑦.0.0.1/",
        "http://0/",
        "http://10.0.0.1/",
        "http://172.16.0.1/",
        "http://172.31.255.255/",
        "http://192.168.1.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://100.100.100.200/",
        "http://192.0.0.192/",
        "http://198.18.0.1/",
        "http://224.0.0.1/",
        "http://255.255.255.255/",
        "http://[::1]/",
        "http://[::]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:169.254.169.254]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[2002:7f00:1::]/",
        "http://[2001::1]/",
        "http://[2001:db8::1]/",
        "http://[fe80::1]/",
        "http://[fd00:ec2::254]/",
        "http://[ff02::1]/",
        "http://localhost/",
        "http://LOCALHOST./",
        "http://a.localhost/",
        "http://router/",
        "http://nas.local/",
        "http://metadata.google.internal/",
        "http://api.default.svc.cluster.local./",
        "http://box.home.arpa/",
    ] {
        assert_eq!(told(url), PRIVATE, "{url}");
    }
}

#[test]
fn hosts_are_written_one_way() {
    let host = |text| media_host(text).unwrap_or_default();
    assert_eq!(host("https://EXAMPLE.com./a?b@c"), "example.com");
    assert_eq!(host("http://0x8.8.8.8/"), "8.8.8.8");
    assert_eq!(host("https://[2606:4700::1111]/"), "[2606:4700::1111]");
    assert_eq!(host("https://bücher.example/"), "xn--bcher-kva.example");
    assert_eq!(host("data:text/plain;base64,aHR0cDovLw=="), "");
    assert_eq!(host("ftp://example.com/"), "");
}

#[test]
fn numbers_that_names_stand_for_are_judged_alike() {
    let is_public = |text: &str| super::is_public(text.parse().unwrap());
    for number in ["8.8.8.8", "2606:4700::1111", "64:ff9b::808:808"] {
        assert!(is_public(number), "{number}");
    }
    for number in ["10.0.0.1", "127.0.0.1", "::1", "::ffff:8.8.8.8", "fd00::1", "64:ff9b::a00:1"] {
        assert!(!is_public(number), "{number}");
    }
}

#[test]
fn other_schemes_ports_and_credentials_are_refused() {
    let scheme = "Send a data URL in base64, or an https or http URL.";
    for url in [
        "file:///etc/passwd",
        "ftp://example.com/a",
        "gopher://example.com/",
        "a.png",
        "//a.b/",
        "",
        "https://",
    ] {
        assert_eq!(told(url), scheme, "{url}");
    }
    for url in ["https://example.com:8443/", "http://example.com:22/", "http://example.com:0/"] {
        assert_eq!(told(url), "Its URL must use port 80 or 443.", "{url}");
    }
    for url in [
        "https://user@example.com/",
        "https://user:secret@example.com/",
        "https://:secret@example.com/",
    ] {
        assert_eq!(told(url), "Its URL must not contain a user name or a password.", "{url}");
    }
    let long = format!("https://example.com/{}", "a".repeat(8192));
    assert_eq!(told(&long), "Its URL must have at most 8192 characters.");
}

#[test]
fn pictures_are_told_by_their_bytes() {
    assert_eq!(told(&inline("image/png", &png(64, 64))), "");
    assert_eq!(told(&inline("IMAGE/PNG;name=a", &png(64, 64))), "");
    assert_eq!(told(&inline("image/png", &jpeg(640, 480))), "", "the bytes count");
    let padded = inline("image/png", &[png(64, 64), vec![0]].concat());
    assert!(padded.ends_with("=="));
    assert_eq!(told(&padded), "");
    assert_eq!(told(padded.trim_end_matches('=')), "", "many leave the padding out");
    let kind = "It must be a PNG, JPEG, WebP, HEIF or AVIF file.";
    assert_eq!(told(&inline("image/gif", b"GIF89a\x80\0\x80\0\0\0\0\0")), kind);
    assert_eq!(told(&inline("image/svg+xml", b"<svg/>")), kind);
    assert_eq!(told(&inline("image/png", b"x")), kind);
    assert_eq!(told(&inline("image/png", &png(64, 64)[..20])), "It is corrupted or unreadable.");
    let media_type = "Its media type must be that of an image, such as image/png.";
    assert_eq!(told(&inline("text/html", &png(64, 64))), media_type);
}

#[test]
fn pictures_have_bounds() {
    let small = "Each of its sides must have at least 64 pixels.";
    assert_eq!(told(&inline("image/png", &png(63, 640))), small);
    assert_eq!(told(&inline("image/jpeg", &jpeg(640, 63))), small);
    assert_eq!(told(&inline("image/png", &png(7680, 4320))), "", "exactly the most");
    let large = "It must have at most 33177600 pixels.";
    assert_eq!(told(&inline("image/png", &png(7681, 4320))), large);
    assert_eq!(told(&inline("image/png", &png(u32::MAX, u32::MAX))), large);
    let mut heavy = png(64, 64);
    heavy.resize(BYTES_MAX, 0);
    assert_eq!(told(&inline("image/png", &heavy)), "");
    heavy.resize(BYTES_MAX + 3, 0);
    let heavy = told(&inline("image/png", &heavy));
    assert_eq!(heavy, "It exceeds the maximum allowed size of 25 MB.");
}

#[test]
fn few_bytes_of_a_long_chain_of_headers_are_read() {
    let mut jpeg_chain = b"\xff\xd8".to_vec();
    while jpeg_chain.len() < 4 * 1024 * 1024 {
        jpeg_chain.extend(b"\xff\xe0\0\x02");
    }
    let mut heif_chain = b"\0\0\0\x0cftypavif\0\0\0\x20meta\0\0\0\0".to_vec();
    heif_chain.extend(b"\0\0\0\x20iprp\x7f\0\0\0ipco");
    while heif_chain.len() < 4 * 1024 * 1024 {
        heif_chain.extend(b"\0\0\0\x14ispe\0\0\0\0\0\0\0\x40\0\0\0\x40");
    }
    // The size after the chain is not accepted, nor is the one that was read before the limit.
    jpeg_chain.extend(&jpeg(64, 64)[2..]);
    heif_chain.extend(b"\0\0\0\x14ispe\0\0\0\0\0\x01\0\0\0\x01\0\0");
    for bytes in [jpeg_chain, heif_chain] {
        let mut reader = HeaderReader::new(&bytes);
        let fault = picture::check_header(&mut reader, &bytes).unwrap_err().to_string();
        assert_eq!(fault, "Its headers must have at most 64 KiB; encode it again.");
        let read = reader.bytes_read();
        assert!((HEADER_BYTES_MAX - 64..=HEADER_BYTES_MAX).contains(&read), "{read}");
    }
}

#[test]
fn a_size_behind_a_large_colour_profile_is_found() {
    let part = [b"\xff\xe2\xff\xff".to_vec(), vec![0; 0xfffd]].concat();
    let bytes = [b"\xff\xd8".to_vec(), part.repeat(40), jpeg(63, 640)[2..].to_vec()].concat();
    let mut reader = HeaderReader::new(&bytes);
    let fault = picture::check_header(&mut reader, &bytes).unwrap_err().to_string();
    assert_eq!(fault, "Each of its sides must have at least 64 pixels.");
    assert!(reader.bytes_read() < 256, "{}", reader.bytes_read());
}

#[test]
fn data_urls_are_in_base64() {
    let form = "Encode its data URL in base64: data:<type>;base64,<data>.";
    assert_eq!(told("data:image/png,abc"), form);
    assert_eq!(told("data:image/png;base64"), form);
    assert_eq!(told("data:"), form);
    assert_eq!(told("data:image/png;base64,a*b="), "It is not valid base64.");
    assert_eq!(told("data:image/png;base64,"), "It is empty.");
}

#[test]
fn videos_are_of_a_known_type() {
    let told = |text: &str| check_video(text).err().map(|fault| fault.to_string());
    assert_eq!(told("https://www.youtube.com/watch?v=1"), None);
    assert_eq!(told(&inline("video/mp4", b"any")), None);
    let kinds = "Its media type must be video/mp4, video/mpeg, video/quicktime or video/webm.";
    assert_eq!(told(&inline("image/png", b"any")).as_deref(), Some(kinds));
    assert_eq!(told("http://10.1.2.3/a.mp4").as_deref(), Some(PRIVATE));
}

proptest! {
    #[test]
    fn odd_pictures_never_panic(head in 0_usize..5, tail in prop::collection::vec(any::<u8>(), 0..400)) {
        let heads: [&[u8]; 5] = [
            b"\x89PNG",
            b"\xff\xd8\xff",
            b"RIFF\0\0\0\0WEBPVP8X",
            b"\0\0\0\x18ftypheic\0\0\0\0mif1heic",
            b"\0\0\0\x0cftypavif\0\0\0\x20meta\0\0\0\0\0\0\0\x20iprp\0\0\0\x40ipco",
        ];
        let mut bytes = heads[head].to_vec();
        bytes.extend(tail);
        let _ = picture::check_image(&bytes);
    }

    #[test]
    fn odd_texts_never_panic(text in "(data:|https?://)?\\PC{0,60}") {
        let _ = check_picture(&text);
        let _ = check_video(&text);
    }
}

#[test]
fn what_parsers_read_differently_is_refused_and_the_rest_is_sent_on_as_it_was_read() {
    for url in [
        "http://1.1.1.1\\@169.254.169.254/latest",
        "https://example.com\\.evil.org/",
        "https://exam\tple.com/",
        "https://exam\nple.com/",
        " https://example.com/",
        "https://example.com/a b.png",
        "https://example.com/\u{a0}",
        "https://example.com/\u{7f}",
    ] {
        let fault = "Its URL must not have spaces, control characters or backslashes.";
        assert_eq!(told(url), fault, "{url:?}");
    }
    assert_eq!(told("http://168.63.129.16/machine"), PRIVATE);
    assert_eq!(told("http://168.63.129.17/"), "");
    for (sent, passed_on) in [
        ("HTTPS://EXAMPLE.COM:443/A.PNG", "https://example.com/A.PNG"),
        ("http://0x01010101/", "http://1.1.1.1/"),
        ("https://bücher.example.org/ü", "https://xn--bcher-kva.example.org/%C3%BC"),
        ("data:image/png;base64,AA==", "data:image/png;base64,AA=="),
        ("http://10.0.0.1/%zz", "http://10.0.0.1/%zz"),
    ] {
        let mut text = sent.to_owned();
        normalise_url(&mut text);
        assert_eq!(text, passed_on);
    }
}
