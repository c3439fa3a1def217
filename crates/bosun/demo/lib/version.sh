harbor_version() {
    echo "harbor 1.0"
}
