//! Properties that must hold for all responses of servers and all texts of callers. The fuzz
//! targets and the test of their seeds share them.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http::HeaderMap;
use multer::Multipart;
use outbound::{
    ConnectSettings, ConnectVia, FormFile, OutboundClient, RequestContent, RequestTarget,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio::runtime::{Builder, Runtime};
use url::Url;

/// Maximum size of a body that is read.
const BODY_BYTES_MAX: usize = 1 << 20;
/// Timeout for a step of either side, which never waits for anything else.
const PATIENCE: Duration = Duration::from_secs(10);
/// At least the number of headers of any accepted head.
const HEADERS_MAX: usize = 100;

/// The parsed response: a status, the number of headers, and a body; or an error.
type Told = Result<(u16, usize, Bytes), String>;

/// Checks a response of a server. The first two bytes say where it is split, which must not matter.
/// Returns true if it could be parsed.
pub(crate) fn http_answer(bytes: &[u8]) -> bool {
    let Some((place, answer)) = bytes.split_first_chunk::<2>() else { return false };
    let (first, second) =
        answer.split_at(usize::from(u16::from_le_bytes(*place)).min(answer.len()));
    let desk = Desk::open();
    let whole = desk.ask(&[answer]);
    let torn = desk.ask(&[first, second]);
    assert_eq!(whole, torn, "it makes no difference where an answer is torn apart");
    if let Ok((status, headers, body)) = &whole {
        assert!((200..=999).contains(status), "{status}");
        assert!(*headers <= HEADERS_MAX, "{headers} headers");
        assert!(body.len() <= answer.len(), "a body has no more than what came");
    }
    whole.is_ok()
}

/// Checks that a form parses to the texts and the file that it was built from. The input separates
/// them by a byte that no text contains.
pub(crate) fn form(bytes: &[u8]) -> bool {
    let mut parts = bytes.split(|byte| *byte == 0xff);
    let file = Bytes::copy_from_slice(parts.next().unwrap_or_default());
    let text = |part: &[u8]| String::from_utf8_lossy(part).into_owned();
    let names = ["model", "prompt", "language"];
    let fields: Vec<(&'static str, String)> = names.into_iter().zip(parts.map(text)).collect();
    let form_file = || FormFile { name: "sound.wav", mime: "audio/wav", bytes: file.clone() };
    let mut meant: Vec<(String, Vec<u8>)> =
        fields.iter().map(|(name, value)| (name.to_string(), value.clone().into())).collect();
    meant.push(("file".to_owned(), file.to_vec()));
    assert_eq!(read_form(RequestContent::form(&fields, form_file())), meant);
    let files = [("file", form_file())];
    assert_eq!(read_form(RequestContent::form_of_files(&fields, &files)), meant);
    true
}

fn read_form(content: RequestContent) -> Vec<(String, Vec<u8>)> {
    let media_type = content.media_type().to_str().expect("a media type is text");
    let boundary = multer::parse_boundary(media_type).expect("it has a boundary");
    let body = stream::iter([Ok::<Bytes, Infallible>(content.into_bytes())]);
    let mut form = Multipart::new(body, boundary);
    runtime().block_on(async move {
        let mut fields = Vec::new();
        while let Some(field) = form.next_field().await.expect("a form") {
            let name = field.name().expect("a name").to_owned();
            fields.push((name, field.bytes().await.expect("a value").to_vec()));
        }
        fields
    })
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// A server that sends given bytes, once per connection.
struct Desk {
    runtime: Runtime,
    listener: UnixListener,
    socket: PathBuf,
}

/// A counter per process, so that each server has its own socket.
static DESKS: AtomicU64 = AtomicU64::new(0);

impl Drop for Desk {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.socket);
    }
}

impl Desk {
    fn open() -> Desk {
        let runtime = runtime();
        let number = DESKS.fetch_add(1, Ordering::Relaxed);
        let name = format!("answers-{}-{number}.sock", std::process::id());
        let socket = std::env::temp_dir().join(name);
        let _ = std::fs::remove_file(&socket);
        let listener = {
            let _inside = runtime.enter();
            UnixListener::bind(&socket).expect("a socket")
        };
        Desk { runtime, listener, socket }
    }

    fn ask(&self, pieces: &[&[u8]]) -> Told {
        let exchange = async {
            let serving = async {
                let (stream, _) = self.listener.accept().await.expect("a connection");
                say(stream, pieces).await;
            };
            tokio::join!(ask(self.socket.clone()), serving).0
        };
        let limited = async { tokio::time::timeout(PATIENCE, exchange).await };
        self.runtime.block_on(limited).expect("every answer ends")
    }
}

/// The client may disconnect before everything is sent.
async fn say(mut stream: UnixStream, pieces: &[&[u8]]) {
    let mut request = [0; 1024];
    let _ = stream.read(&mut request).await;
    for piece in pieces {
        if stream.write_all(piece).await.is_err() {
            return;
        }
        for _ in 0..4 {
            tokio::task::yield_now().await;
        }
    }
}

async fn ask(socket: PathBuf) -> Told {
    let reach = ConnectSettings {
        way: ConnectVia::Socket(socket),
        connect_timeout: PATIENCE,
        idle_max: PATIENCE,
    };
    let client = OutboundClient::new(reach).expect("a client");
    let url = Url::parse("http://server/v1").expect("an address");
    let target = RequestTarget::new(&client, &url, HeaderMap::new()).expect("a target");
    let answer = client.get(&target, "").await.map_err(|fault| fault.to_string())?;
    let (status, headers) = (answer.status(), answer.headers().len());
    let body = answer.read_whole(BODY_BYTES_MAX).await.map_err(|unread| format!("{unread:?}"))?;
    Ok((status, headers, body))
}
