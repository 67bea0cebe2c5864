"""Class `http`: a request whose URL and body are the user's templates."""

import msgspec

from warren.config import HttpNotifier
from warren.errors import SendFailed, TemplateFailed
from warren.model.go_json import encode
from warren.model.kafka_names import readable
from warren.notify.message import Event, Message
from warren.notify.sample import NOW_MS, sample, sample_digest
from warren.notify.senders.http_requests import Requests, origin
from warren.notify.templates import template_files
from warren.notify.wording import digest_counts, utc


class HttpSender:
    def __init__(self, notifier: HttpNotifier) -> None:
        self._extras = notifier.extras
        self._methods = {"open": notifier.method_open, "close": notifier.method_close}
        self._urls = {
            "open": template_files.of_url(notifier, "url-open", notifier.url_open),
            "close": template_files.of_url(notifier, "url-close", notifier.url_close),
        }
        self._bodies = template_files.of_files(notifier)
        self._requests = Requests(notifier)

    def send(self, message: Message) -> str:
        method, url, body = self.write(message)
        return self._requests.send(method, url, body)

    def write(self, message: Message) -> tuple[str, str, bytes]:
        """Method, URL and body of the request."""
        body = self._digest(message) if message.digest else self._body(message)
        url = self._urls[message.event].render(message)
        origin(url)  # raises SendFailed for an invalid URL
        return self._methods[message.event], url, body

    def digests(self, event: Event) -> bool:
        """Not if the URL names one group or incident."""
        samples = (sample(event, NOW_MS), sample_digest(event, 2 * NOW_MS))
        try:
            urls = {self._urls[event].render(each) for each in samples}
        except TemplateFailed:
            return False
        return len(urls) == 1

    def closes_by_id(self, *, lag: bool) -> bool:  # noqa: ARG002  the same for verdicts
        """Yes if the URL names the incident, or only the body does and the URL names no group."""
        close = sample("close", NOW_MS)
        other_id = msgspec.structs.replace(close, id="another-incident")
        other_group = msgspec.structs.replace(close, group="another-group")
        try:
            (_, url, body), (_, id_url, id_body) = self.write(close), self.write(other_id)
            names_group = self.write(other_group)[1] != url
        except SendFailed:
            return False
        return id_url != url or (id_body != body and not names_group)

    def close(self) -> None:
        self._requests.close()

    def _body(self, message: Message) -> bytes:
        return self._bodies[message.event].render(message).encode()

    def _digest(self, message: Message) -> bytes:
        """A fixed JSON document: users' templates are made for one group."""
        groups = [
            {
                "cluster": readable(line.cluster),
                "group": readable(line.group),
                "status": line.status.name,
                "totallag": line.total_lag,
                "id": line.id,
                "start": utc(line.start_ms) if line.start_ms else "",
                "reason": readable(line.reason),
                "word": line.word,
                "owner": readable(line.owner),
            }
            for line in message.digest
        ]
        document = {
            "event": message.event,
            "digest": True,
            "count": len(groups),
            "counts": digest_counts(message),
            "extras": dict(self._extras),
            "groups": groups,
        }
        return encode(document)
