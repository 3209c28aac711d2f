//! `tollgate image`: generates an image file, and shows it in terminals that support images.

use std::env::var_os;
use std::io::{IsTerminal, Write, stdout};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use pictures::{
    ImageBounds, ImageEncoding, ImageFileFormat, ImageOperations, PixelSize, ResizeMode,
};
use serde_json::json;

use super::session::{ApiSession, read_body};
use crate::args;
use crate::failure::CommandError;
use crate::operator::OperationClient;
use crate::output::print_line;

/// The longer side of the preview in pixels.
const PREVIEW_PIXELS: u32 = 480;
/// The maximum size of a chunk in kitty's graphics protocol.
const PIECE_BYTES: usize = 4096;
const PIXELS_MAX: u64 = 40_000_000;

pub(crate) async fn run_image_command(
    operator: &mut OperationClient<'_>,
    image: &args::ImageArgs,
) -> Result<(), CommandError> {
    let ending = image.output.extension().and_then(|it| it.to_str()).unwrap_or_default();
    let format = match ending.to_lowercase().as_str() {
        "jpg" | "jpeg" => "jpeg",
        "png" => "png",
        "webp" => "webp",
        _ => {
            let output = image.output.display();
            let message = format!("the file name {output} must end in webp, png or jpg");
            return Err(CommandError::Usage(message));
        }
    };
    let session = ApiSession::open(operator).await?;
    let outcome = save_image(&session, image, format).await;
    session.close(operator).await.and(outcome)
}

async fn save_image(
    session: &ApiSession,
    image: &args::ImageArgs,
    format: &str,
) -> Result<(), CommandError> {
    let mut body = json!({
        "model": image.model, "prompt": image.prompt, "format": format, "return_binary": true,
    });
    let wishes = [
        ("negative_prompt", image.negative.as_deref().map(Into::into)),
        ("style_preset", image.style.as_deref().map(Into::into)),
        ("width", image.width.map(Into::into)),
        ("height", image.height.map(Into::into)),
        ("aspect_ratio", image.aspect_ratio.as_deref().map(Into::into)),
        ("steps", image.steps.map(Into::into)),
        ("seed", image.seed.map(Into::into)),
    ];
    for (name, wish) in wishes {
        if let Some(wish) = wish {
            body[name] = wish;
        }
    }
    let file = read_body(session.post_json("image/generate", &body).await?).await?;
    std::fs::write(&image.output, &file)?;
    let head = pictures::inspect_image(&file).ok();
    let size = head.map(|it| format!("{} × {}, ", it.size.width, it.size.height));
    let size = size.unwrap_or_default();
    print_line(&format!("{}: {size}{} bytes", image.output.display(), file.len()))?;
    if let (Some(head), Some(terminal)) = (head, TerminalImageProtocol::detect()) {
        let preview = render_preview(&file, head.size).ok_or_else(|| {
            CommandError::Failed("the image cannot be displayed; its file was written".to_owned())
        })?;
        stdout().write_all(&terminal.encode_image(&preview))?;
    }
    Ok(())
}

/// Returns a scaled-down PNG, which all supported terminals accept.
fn render_preview(file: &[u8], size: PixelSize) -> Option<Vec<u8>> {
    let longer = size.width.max(size.height).max(1);
    let side = |side: u32| {
        let scaled = u64::from(side) * u64::from(PREVIEW_PIXELS) / u64::from(longer);
        u32::try_from(scaled).unwrap_or(PREVIEW_PIXELS).max(1)
    };
    let smaller = PixelSize { width: side(size.width), height: side(size.height) };
    let order = ImageOperations {
        bounds: ImageBounds { pixels_min: 1, pixels_max: PIXELS_MAX, side_min: 1 },
        is_strict: false,
        resize: (PREVIEW_PIXELS < longer).then_some(ResizeMode::To(smaller)),
        blur: false,
        mark: None,
        write: ImageEncoding::As(ImageFileFormat::Png),
        facts: None,
    };
    pictures::process_image(&order, file).ok().map(|it| it.file)
}

/// The image protocol of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TerminalImageProtocol {
    /// kitty's graphics protocol, also supported by Ghostty and others.
    Kitty,
    /// iTerm2's inline images, also supported by WezTerm and others.
    Inline,
}

impl TerminalImageProtocol {
    /// Returns the protocol of the current terminal, if its environment variables name one.
    fn detect() -> Option<TerminalImageProtocol> {
        if !stdout().is_terminal() {
            return None;
        }
        let says = |name: &str| var_os(name).and_then(|it| it.into_string().ok());
        TerminalImageProtocol::from_terminal_names(
            says("TERM").as_deref().unwrap_or_default(),
            says("TERM_PROGRAM").as_deref().unwrap_or_default(),
        )
    }

    fn from_terminal_names(term: &str, program: &str) -> Option<TerminalImageProtocol> {
        match (term, program) {
            ("xterm-kitty" | "xterm-ghostty", _) => Some(TerminalImageProtocol::Kitty),
            (_, "iTerm.app" | "WezTerm" | "mintty") => Some(TerminalImageProtocol::Inline),
            _ => None,
        }
    }

    fn encode_image(self, png: &[u8]) -> Vec<u8> {
        let text = BASE64_STANDARD.encode(png);
        match self {
            TerminalImageProtocol::Inline => {
                let length = png.len();
                format!("\x1b]1337;File=inline=1;size={length}:{text}\x07\n").into_bytes()
            }
            TerminalImageProtocol::Kitty => {
                let pieces: Vec<&[u8]> = text.as_bytes().chunks(PIECE_BYTES).collect();
                let mut shown = Vec::new();
                for (number, piece) in pieces.iter().enumerate() {
                    let head = if number == 0 { "a=T,f=100," } else { "" };
                    let more = u8::from(number + 1 < pieces.len());
                    shown.extend_from_slice(format!("\x1b_G{head}m={more};").as_bytes());
                    shown.extend_from_slice(piece);
                    shown.extend_from_slice(b"\x1b\\");
                }
                shown.push(b'\n');
                shown
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_sent_in_pieces_that_terminals_take() {
        let shown = TerminalImageProtocol::Kitty.encode_image(&[0; 6000]);
        let text = String::from_utf8(shown).unwrap();
        assert!(text.starts_with("\x1b_Ga=T,f=100,m=1;AAAA"), "{text:.40}");
        assert_eq!(text.matches("\x1b_G").count(), 2);
        assert!(text.contains("\x1b_Gm=0;"));
        let shown = String::from_utf8(TerminalImageProtocol::Inline.encode_image(b"abc")).unwrap();
        assert_eq!(shown, "\x1b]1337;File=inline=1;size=3:YWJj\x07\n");
    }

    #[test]
    fn only_terminals_that_say_so_are_sent_pictures() {
        assert_eq!(
            TerminalImageProtocol::from_terminal_names("xterm-kitty", ""),
            Some(TerminalImageProtocol::Kitty)
        );
        assert_eq!(
            TerminalImageProtocol::from_terminal_names("xterm-256color", "iTerm.app"),
            Some(TerminalImageProtocol::Inline)
        );
        assert_eq!(
            TerminalImageProtocol::from_terminal_names("xterm-256color", "Apple_Terminal"),
            None
        );
        assert_eq!(TerminalImageProtocol::from_terminal_names("dumb", ""), None);
    }

    #[test]
    fn what_is_shown_is_small_and_keeps_its_ratio() {
        let size = PixelSize { width: 1024, height: 512 };
        let file = pictures::encode_black_image(size, ImageFileFormat::Webp).unwrap().file;
        let head = pictures::inspect_image(&render_preview(&file, size).unwrap()).unwrap();
        assert_eq!(
            (head.format, head.size.width, head.size.height),
            (ImageFileFormat::Png, 480, 240)
        );
    }
}
