show() {
  local ports=([tcp/ip]=80)
  echo "${ports[tcp/ip]}"
}
show
