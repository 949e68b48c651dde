//! A small static file server for one [`Site`], on the loopback interface.
//!
//! Invariant: it answers from the site's table of files and never opens a path a client names.
//! One thread and one request per connection, GET and HEAD only.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::Context as _;

use crate::site::{Asset, Site};

/// Longest request head that is read; browsers send less than a tenth of it.
const MAX_HEAD: u64 = 64 * 1024;
/// How many further ports are tried when the wished one is taken.
const MORE_PORTS: u16 = 50;

/// A bound port.
pub(crate) struct Server {
    listener: TcpListener,
    pub(crate) port: u16,
}

impl Server {
    /// Binds `port` or, where it is taken, says so and takes one of the next.
    pub(crate) fn bind(port: u16) -> anyhow::Result<Self> {
        let mut tried = port;
        loop {
            match TcpListener::bind((Ipv4Addr::LOCALHOST, tried)) {
                Ok(listener) => {
                    let port = listener.local_addr()?.port();
                    return Ok(Self { listener, port });
                }
                Err(error)
                    if error.kind() == std::io::ErrorKind::AddrInUse && tried < port.saturating_add(MORE_PORTS) =>
                {
                    println!("· port {tried} is taken, trying {}", tried + 1);
                    tried += 1;
                }
                Err(error) => return Err(error).with_context(|| format!("cannot listen on 127.0.0.1:{tried}")),
            }
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// Serves until the process ends.
    pub(crate) fn run(self, site: Site) {
        let site = Arc::new(site);
        for stream in self.listener.incoming().flatten() {
            let site = Arc::clone(&site);
            // A client that goes away in the middle of an answer concerns nobody.
            thread::spawn(move || drop(answer(&site, stream)));
        }
    }

    /// Serves from a thread of its own until the process ends.
    pub(crate) fn run_in_background(self, site: Site) {
        thread::spawn(move || self.run(site));
    }
}

/// What of a request matters here.
struct Request {
    method: String,
    target: String,
    accept_encoding: String,
}

/// What is sent: status line, content type, content encoding, body.
struct Response<'a> {
    status: &'static str,
    mime: &'static str,
    encoding: Option<&'static str>,
    body: &'a [u8],
}

fn answer(site: &Site, stream: TcpStream) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let Some(request) = read_request(&stream)? else { return Ok(()) };
    let response = respond(site, &request);
    let encoding = response.encoding.map_or(String::new(), |encoding| format!("Content-Encoding: {encoding}\r\n"));
    let mut stream = stream;
    write!(
        stream,
        "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{encoding}Vary: Accept-Encoding\r\n\
         Cache-Control: no-cache\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
        response.status,
        response.mime,
        response.body.len()
    )?;
    if request.method != "HEAD" {
        stream.write_all(response.body)?;
    }
    stream.flush()
}

fn read_request(stream: &TcpStream) -> std::io::Result<Option<Request>> {
    let mut lines = BufReader::new(stream.take(MAX_HEAD)).lines();
    let Some(first) = lines.next().transpose()? else { return Ok(None) };
    let mut words = first.split(' ');
    let (method, target) = (words.next().unwrap_or_default().to_owned(), words.next().unwrap_or_default().to_owned());
    let mut accept_encoding = String::new();
    for line in lines {
        let line = line?;
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("accept-encoding")
        {
            value.trim().clone_into(&mut accept_encoding);
        }
    }
    Ok(Some(Request { method, target, accept_encoding }))
}

fn respond<'a>(site: &'a Site, request: &Request) -> Response<'a> {
    let plain = |status, body| Response { status, mime: "text/plain; charset=utf-8", encoding: None, body };
    if request.method != "GET" && request.method != "HEAD" {
        return plain("405 Method Not Allowed", b"Only GET and HEAD.\n");
    }
    let path = request.target.split(['?', '#']).next().unwrap_or_default().trim_start_matches('/');
    let path = if path.is_empty() { "index.html" } else { path };
    let Some(asset) = site.files.get(path) else { return plain("404 Not Found", b"There is no such file.\n") };
    let (encoding, body) = negotiate(asset, &request.accept_encoding);
    Response { status: "200 OK", mime: mime(path), encoding, body }
}

/// The smallest form of a file that the client takes.
fn negotiate<'a>(asset: &'a Asset, accept_encoding: &str) -> (Option<&'static str>, &'a [u8]) {
    if let Some(body) = &asset.brotli
        && accepts(accept_encoding, "br")
    {
        return (Some("br"), body);
    }
    if let Some(body) = &asset.gzip
        && accepts(accept_encoding, "gzip")
    {
        return (Some("gzip"), body);
    }
    (None, &asset.plain)
}

/// Whether an `Accept-Encoding` header names `coding` with a weight above 0.
fn accepts(header: &str, coding: &str) -> bool {
    header.split(',').any(|item| {
        let mut parts = item.split(';').map(str::trim);
        let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(coding));
        let refused =
            parts.any(|part| part.strip_prefix("q=").is_some_and(|q| q.parse::<f32>().is_ok_and(|q| q <= 0.0)));
        named && !refused
    })
}

fn mime(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "wasm" => "application/wasm",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "json" => "application/json",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::{Request, accepts, respond};
    use crate::site::{Asset, Site};

    fn get(target: &str, accept_encoding: &str) -> Request {
        Request { method: "GET".to_owned(), target: target.to_owned(), accept_encoding: accept_encoding.to_owned() }
    }

    fn site() -> Site {
        let wasm = Asset { plain: b"plain".to_vec(), gzip: Some(b"gz".to_vec()), brotli: Some(b"b".to_vec()) };
        let page = Asset { plain: b"page".to_vec(), gzip: None, brotli: None };
        Site { files: [("app.wasm".to_owned(), wasm), ("index.html".to_owned(), page)].into() }
    }

    #[test]
    fn the_smallest_accepted_form_is_sent() {
        let site = site();
        for (header, encoding, body) in [
            ("gzip, deflate, br", Some("br"), &b"b"[..]),
            ("gzip;q=0.5, br;q=0", Some("gzip"), b"gz"),
            ("", None, b"plain"),
        ] {
            let response = respond(&site, &get("/app.wasm?v=1", header));
            assert_eq!((response.encoding, response.body, response.mime), (encoding, body, "application/wasm"));
        }
    }

    #[test]
    fn only_files_of_the_site_exist() {
        let site = site();
        assert_eq!(respond(&site, &get("/", "")).body, b"page");
        for target in ["/../Cargo.toml", "/%2e%2e/Cargo.toml", "//etc/passwd", "/app.wasm/..", "/nothing"] {
            assert_eq!(respond(&site, &get(target, "")).status, "404 Not Found", "{target}");
        }
        let post = Request { method: "POST".to_owned(), ..get("/", "") };
        assert_eq!(respond(&site, &post).status, "405 Method Not Allowed");
    }

    #[test]
    fn names_are_compared_whole() {
        assert!(accepts("BR", "br"));
        assert!(!accepts("brotli", "br"));
        assert!(!accepts("br; q=0.0", "br"));
    }
}
