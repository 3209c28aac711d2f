//! A test provider of kind `openai` with scripted responses, which records its requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// A request: the method and path, and the body.
pub(crate) type ProviderRequest = (String, Value);
type ProviderAnswer = Box<dyn Fn(&str, &Value) -> (u16, Value) + Send + Sync>;

pub(crate) struct TestProvider {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<ProviderRequest>>>,
}

impl TestProvider {
    /// Starts a provider. `answer` gets the method and path, such as `GET /v1/models`, and the
    /// body.
    pub(crate) fn start(
        answer: impl Fn(&str, &Value) -> (u16, Value) + Send + Sync + 'static,
    ) -> TestProvider {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::<Mutex<Vec<ProviderRequest>>>::default();
        let (log, answer): (_, ProviderAnswer) = (Arc::clone(&asked), Box::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                serve(&stream, &log, &answer);
            }
        });
        TestProvider { address, asked }
    }

    /// Starts a provider that lists `m` and answers requests.
    pub(crate) fn healthy() -> TestProvider {
        TestProvider::start(|asked, _| match asked {
            "GET /v1/models" => (200, json!({"data": [{"id": "m", "max_model_len": 4096}]})),
            "POST /v1/chat/completions" => (200, json!({"choices": [{"message": {}}]})),
            _ => (404, json!({"error": {"message": "no such path"}})),
        })
    }

    /// Returns a configuration with a text model `own`, which this provider calls `upstream_id`.
    pub(crate) fn config(&self, upstream_id: &str, price: &str) -> String {
        format!(
            "[server]\nlisten = \"127.0.0.1:0\"\nadmin_listen = \"127.0.0.1:0\"\n\
             [[provider]]\nid = \"up\"\nkind = \"openai\"\nbase_url = \"http://{}/v1\"\n\
             [[model]]\nid = \"own\"\ntype = \"text\"\nprovider = \"up\"\n\
             upstream_id = \"{upstream_id}\"\ncontext_tokens = 4096\n\
             price = {{ input_usd_per_million = \"{price}\", output_usd_per_million = \"{price}\" }}\n",
            self.address
        )
    }

    /// Returns the bodies of POST requests, oldest first.
    pub(crate) fn calls(&self) -> Vec<Value> {
        let asked = self.asked.lock().unwrap();
        let calls = asked.iter().filter(|(path, _)| path.starts_with("POST"));
        calls.map(|(_, body)| body.clone()).collect()
    }
}

fn serve(mut stream: &TcpStream, log: &Mutex<Vec<ProviderRequest>>, answer: &ProviderAnswer) {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    if reader.read_line(&mut head).is_err() {
        return;
    }
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).is_err() || line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    if reader.read_exact(&mut body).is_err() {
        return;
    }
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let asked = head.split(' ').take(2).collect::<Vec<_>>().join(" ");
    let (status, told) = answer(&asked, &body);
    log.lock().unwrap().push((asked, body));
    let told = told.to_string();
    // The client may have closed the connection.
    let _ = write!(
        stream,
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n{told}",
        told.len()
    );
}
