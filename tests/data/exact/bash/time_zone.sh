printf '%(%F %T %Z)T\n' 0; date -d @0; TZ=Asia/Tokyo printf '%(%T %Z)T\n' 0
