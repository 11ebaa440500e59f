"""The whole table of refused addresses, their allowed neighbours, and every spelling of a URL that is refused."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.base.outbound import REFUSED, RefusedUrl, address_refusal, parse_webhook_url

# First and last address of each refused network, with the public neighbours outside where there are any.
EDGES = [
    ("0.0.0.0", "0.255.255.255", None, "1.0.0.0"),  # noqa: S104 - an address of the table
    ("10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"),
    ("100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0"),
    ("127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0"),
    ("169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0"),
    ("172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"),
    ("192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0"),
    ("192.0.2.0", "192.0.2.255", "192.0.1.255", "192.0.3.0"),
    ("192.88.99.0", "192.88.99.255", "192.88.98.255", "192.88.100.0"),
    ("192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0"),
    ("198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0"),
    ("198.51.100.0", "198.51.100.255", "198.51.99.255", "198.51.101.0"),
    ("203.0.113.0", "203.0.113.255", "203.0.112.255", "203.0.114.0"),
    ("224.0.0.0", "255.255.255.255", "223.255.255.255", None),
    ("168.63.129.16", "168.63.129.16", "168.63.129.15", "168.63.129.17"),
    ("::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", None, "2000::"),
    ("2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2000:ffff::ffff", "2001:200::"),
    ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db7:ffff::", "2001:db9::"),
    ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:ffff::", "2003::"),
    ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3ffe:ffff::", "3fff:1000::"),
    ("4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", None),
]
SEEN_TO_SLIP_THROUGH = [
    *("::7f00:1", "::ffff:0:7f00:1", "::5efe:7f00:1", "64:ff9b::7f00:1", "64:ff9b:1::a9fe:a9fe", "2002:7f00:1::1"),
    *("3fff::", "5f00::", "fec0::1", "ff02::1", "224.0.0.1", "192.88.99.3", "192.0.0.192", "168.63.129.16"),
    *("::1", "::", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0"),
    *("100::1", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "64:ff9b::a9fe:a9fe", "64:ff9b::a00:1"),
    *("169.254.169.254", "100.100.100.200", "0.0.0.0", "255.255.255.255", "64:ff9b:1::808:808"),  # noqa: S104 - as above
]
ALLOWED = [
    *("8.8.8.8", "1.1.1.1", "100.63.255.254", "100.128.0.1", "93.184.216.34", "192.31.196.1", "223.255.255.254"),
    *("2606:4700::1111", "2a00:1450:4001:80b::200e", "64:ff9b::808:808", "2620:fe::fe", "2003::1"),
]


@pytest.mark.parametrize(("first", "last", "below", "above"), EDGES)
def test_each_refused_network_is_refused_to_its_edges_and_no_further(
    first: str, last: str, below: str | None, above: str | None
) -> None:
    for inside in (first, last):
        assert address_refusal(ipaddress.ip_address(inside)) is not None, inside
    for outside in (below, above):
        if outside is not None:
            assert address_refusal(ipaddress.ip_address(outside)) is None, outside


@pytest.mark.parametrize("address", SEEN_TO_SLIP_THROUGH)
def test_addresses_that_only_look_public_are_refused(address: str) -> None:
    assert address_refusal(ipaddress.ip_address(address)) is not None


@pytest.mark.parametrize("address", ALLOWED)
def test_public_addresses_are_allowed(address: str) -> None:
    assert address_refusal(ipaddress.ip_address(address)) is None


@given(st.ip_addresses())
def test_whatever_is_not_global_is_refused(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    if not address.is_global or address.is_multicast:
        assert address_refusal(address) is not None


@given(st.ip_addresses(v=4))
def test_a_translated_address_is_what_it_is_translated_to(address: ipaddress.IPv4Address) -> None:
    translated = ipaddress.IPv6Address(int(ipaddress.IPv6Address("64:ff9b::")) | int(address))
    assert address_refusal(translated) == address_refusal(address)


def test_every_network_of_the_table_has_an_edge_here() -> None:
    firsts = {ipaddress.ip_address(first) for first, *_ in EDGES} | {
        ipaddress.ip_address(inside) for inside in ("::", "240.0.0.0", "5f00::")
    }
    assert {network.network_address for network in REFUSED} <= firsts


@pytest.mark.parametrize(
    ("url", "stored"),
    [
        ("https://hooks.example.com", "https://hooks.example.com/"),
        ("HTTPS://Hooks.Example.COM:443/A/b?c=D", "https://hooks.example.com/A/b?c=D"),
        ("https://hooks.example.com./x", "https://hooks.example.com/x"),
        ("https://xn--bcher-kva.example/hook", "https://xn--bcher-kva.example/hook"),
        ("https://hooks.example.com/ä?ö={1}", "https://hooks.example.com/%C3%A4?%C3%B6=%7B1%7D"),
        ("https://hooks.example.com/a%20b", "https://hooks.example.com/a%20b"),
        ("https://8.8.8.8/hook", "https://8.8.8.8/hook"),
        ("https://[2606:4700:0::1111]/", "https://[2606:4700::1111]/"),
        ("https://my_app.example.com/", "https://my_app.example.com/"),
    ],
)
def test_a_public_url_is_stored_in_its_normal_form(url: str, stored: str) -> None:
    target = parse_webhook_url(url, loopback=False)
    assert target.url == stored
    assert parse_webhook_url(stored, loopback=False) == target


@pytest.mark.parametrize(
    "url",
    [
        *("", "hooks", "hooks.example.com", "//hooks.example.com/", "https://", "https:///path", "https://:443/"),
        *("http://hooks.example.com/", "ftp://hooks.example.com/", "file:///etc/passwd", "javascript:alert(1)"),
        *("https://hooks.example.com:8443/", "https://hooks.example.com:80/", "https://hooks.example.com:0/"),
        *("https://hooks.example.com:99999/", "https://hooks.example.com:x/", "https://a.example:443:443/"),
        *("https://user@hooks.example.com/", "https://user:pass@hooks.example.com/", "https://@hooks.example.com/"),
        *("https://hooks.example.com/#part", "https://hooks.example.com/#", "https://hooks.example.com/a b"),
        *("https://example.com\\@127.0.0.1/", "https://example.com\\.evil.example/", "https://a.example/\x00"),
        *("https://a.exa\tmple/", "https://a.example/\n", " https://a.example/", "https://a.example/ "),
        *("https://localhost/", "https://intranet/", "https://a..example/", "https://.example/", "https://-a.example/"),
        *("https://2130706433/", "https://0x7f000001/", "https://0177.0.0.1/", "https://127.1/", "https://0/"),
        *("https://127.0.0.0x1/", "https://①②⑦.⓪.⓪.①/", "https://127。0。0。1/", "https://127.0.0.1./"),
        *("https://127.0.0.1/", "https://10.1.2.3/", "https://[::1]/", "https://[::ffff:127.0.0.1]/"),
        *("https://[64:ff9b::7f00:1]/", "https://[fe80::1%25eth0]/", "https://[::]/", "https://[v1.a]/"),
        *("https://256.1.1.1/", "https://1.2.3/", "https://1.2.3.4.5/", "https://08.8.8.8/", "https://[8.8.8.8]/"),
        *("https://a.example%00.b.example/", "https://a%2eexample/", "https://büro.example/", "https://a.1/"),
        *("http://127.0.0.1/", "http://127.0.0.1:8080/hook"),
        "https://a.example/" + "a" * 2000,
        "https://" + "a" * 64 + ".example/",
        "https://" + "a." * 130 + "example/",
    ],
)
def test_every_other_spelling_is_refused(url: str) -> None:
    with pytest.raises(RefusedUrl):
        parse_webhook_url(url, loopback=False)


@pytest.mark.parametrize("url", ["http://127.0.0.1:8080/hook", "http://127.0.0.1/", "http://127.0.0.1:1/?a=b"])
def test_the_development_switch_allows_loopback_at_any_port(url: str) -> None:
    assert parse_webhook_url(url, loopback=True).is_loopback


@pytest.mark.parametrize(
    "url",
    [
        *("http://localhost:8080/", "http://127.0.0.2:8080/", "http://127.1:8080/", "http://[::1]:8080/"),
        *("https://127.0.0.1/", "http://10.0.0.1/", "http://a@127.0.0.1/", "http://hooks.example.com/"),
        "https://127.0.0.1:8080/",
    ],
)
def test_the_development_switch_allows_nothing_else(url: str) -> None:
    with pytest.raises(RefusedUrl):
        parse_webhook_url(url, loopback=True)


@given(st.text())
def test_a_url_is_read_or_refused(url: str) -> None:
    for candidate in (url, f"https://{url}", f"https://{url}.example.com/{url}"):
        try:
            target = parse_webhook_url(candidate, loopback=False)
        except RefusedUrl:
            continue
        assert parse_webhook_url(target.url, loopback=False) == target
