echo "main $FROM_ENV"
