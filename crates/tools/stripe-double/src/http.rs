//! HTTP/1.1 as far as clients of the double need it: bodies with a length, and connections that stay.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

const HEAD_BYTES_MAX: usize = 64 * 1024;
const BODY_BYTES_MAX: usize = 1024 * 1024;
const HEADERS_MAX: usize = 64;
const IDLE_MAX: Duration = Duration::from_secs(30);

/// A request as it came.
#[derive(Debug)]
pub(crate) struct HttpRequest {
    pub(crate) method: String,
    /// With the query.
    pub(crate) path: String,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// A response to write.
#[derive(Debug)]
pub(crate) struct HttpResponse {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
}

impl HttpRequest {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

impl HttpResponse {
    pub(crate) fn json(status: u16, body: &serde_json::Value) -> HttpResponse {
        let headers = vec![("Content-Type", "application/json".to_owned())];
        HttpResponse { status, headers, body: body.to_string().into_bytes() }
    }
}

/// Answers the requests of a connection until its client closes it.
pub(crate) fn serve_connection(
    stream: TcpStream,
    answer: impl Fn(&HttpRequest) -> HttpResponse,
) -> io::Result<()> {
    stream.set_read_timeout(Some(IDLE_MAX))?;
    stream.set_nodelay(true)?;
    let mut writer = stream.try_clone()?;
    let mut reader = BufReader::new(stream);
    while let Some(request) = read_request(&mut reader)? {
        write_response(&mut writer, &answer(&request))?;
    }
    Ok(())
}

/// Posts a body and returns the status of the response.
pub(crate) fn post(url: &url::Url, headers: &[(&str, String)], body: &[u8]) -> io::Result<u16> {
    let host = url.host_str().unwrap_or_default();
    let port = url.port_or_known_default().unwrap_or(80);
    let mut stream = TcpStream::connect((host, port))?;
    stream.set_read_timeout(Some(IDLE_MAX))?;
    let mut head = format!(
        "POST {} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\nContent-Length: {}\r\n",
        url.path(),
        body.len()
    );
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)?;
    let mut line = String::new();
    BufReader::new(stream).take(1024).read_line(&mut line)?;
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
    status.ok_or_else(|| io::Error::other("no status line"))
}

/// The next request. None at the end of the connection.
fn read_request(reader: &mut impl BufRead) -> io::Result<Option<HttpRequest>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let read = reader.by_ref().take(HEAD_BYTES_MAX as u64).read_until(b'\n', &mut head)?;
        if read == 0 {
            return Ok(None);
        }
        if HEAD_BYTES_MAX < head.len() {
            return Err(io::Error::other("the head is too long"));
        }
    }
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut parsed = httparse::Request::new(&mut headers);
    parsed.parse(&head).map_err(io::Error::other)?;
    let (Some(method), Some(path)) = (parsed.method, parsed.path) else {
        return Err(io::Error::other("no request line"));
    };
    let (method, path) = (method.to_owned(), path.to_owned());
    let headers: Vec<(String, String)> = parsed
        .headers
        .iter()
        .map(|it| (it.name.to_owned(), String::from_utf8_lossy(it.value).into_owned()))
        .collect();
    let mut request = HttpRequest { method, path, headers, body: Vec::new() };
    let length = request.header("content-length").and_then(|length| length.parse().ok());
    let length: usize = length.unwrap_or(0);
    if BODY_BYTES_MAX < length {
        return Err(io::Error::other("the body is too long"));
    }
    request.body.resize(length, 0);
    reader.read_exact(&mut request.body)?;
    Ok(Some(request))
}

fn write_response(writer: &mut impl Write, response: &HttpResponse) -> io::Result<()> {
    let mut head = format!(
        "HTTP/1.1 {} Answer\r\nContent-Length: {}\r\n",
        response.status,
        response.body.len()
    );
    for (name, value) in &response.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    writer.write_all(head.as_bytes())?;
    writer.write_all(&response.body)?;
    writer.flush()
}
